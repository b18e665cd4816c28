"""Memory for the outputs of a call, of the library and in the representation that its inputs use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from intent.host.arguments import Values
from intent.host.arrays import is_tensor
from intent.host.interface import CARRIERS, Interface, Parameter


def numpy_outputs(interface: Interface, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
    """bfloat16 and float8 in the kind that the inputs use: NumPy's own if it was taught the names, else integers."""
    import numpy as np

    named = any(getattr(getattr(value, "dtype", None), "name", "") in CARRIERS for value in inputs)
    return [np.empty(_shape(each, sizes), np.dtype(_element(each, not named))) for each in interface.outputs]


def tensor_outputs(interface: Interface, inputs: Values, sizes: Mapping[str, int], device: str) -> Sequence[object]:
    """On the device of the inputs, else on `device`."""
    import torch

    place = next((value.device for value in inputs if is_tensor(value)), None) or device
    carried = _carries(interface.inputs, inputs)
    return [
        torch.empty(_shape(each, sizes), dtype=getattr(torch, _element(each, carried)), device=place)
        for each in interface.outputs
    ]


def _carries(parameters: Sequence[Parameter], values: Sequence[object]) -> bool:
    """Whether bfloat16 or float8 came as tensors of integers."""
    return any(
        parameter.element in CARRIERS and is_tensor(value) and str(value.dtype) != f"torch.{parameter.element}"
        for parameter, value in zip(parameters, values, strict=True)
    )


def _element(output: Parameter, carried: bool) -> str:
    return CARRIERS.get(output.element, output.element) if carried else output.element


def _shape(output: Parameter, sizes: Mapping[str, int]) -> list[int]:
    return [extent if isinstance(extent, int) else sizes[extent] for extent in output.shape]
