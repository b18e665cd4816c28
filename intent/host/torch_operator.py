"""A compiled kernel as a PyTorch operator, with a schema, a form without data, and its mutations declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch

from intent.host.interface import Interface, Parameter

if TYPE_CHECKING:
    from intent.host.artifacts import Artifact


def torch_operator(artifact: Artifact, name: str) -> Callable[..., Any]:
    """`artifact.run` under a name of PyTorch's registry."""
    interface = artifact.interface
    mutated = [parameter.name for parameter in interface.inputs if parameter.writable]
    qualified = name if "::" in name else f"intent::{name}"
    if not all(part.isidentifier() for part in qualified.split("::", 1)):
        raise ValueError(f"{interface.name}: an operator is called namespace::name, not {name!r}")
    schema = operator_schema(interface)
    operator: Any = torch.library.custom_op(qualified, artifact.run, mutates_args=mutated, schema=schema)

    def without_data(*arguments: Any, **keywords: Any) -> object:  # noqa: ANN401 - what PyTorch hands over
        return _empty_results(interface, arguments, keywords)

    operator.register_fake(without_data)
    found: Callable[..., Any] = operator
    return found


def operator_schema(interface: Interface) -> str:
    """`(Tensor x, Tensor(a1!) state, float scale, *, SymInt G) -> Tensor`."""
    parameters = [_declared(position, each) for position, each in enumerate(interface.inputs)]
    keywords = [f"SymInt {keyword}" for keyword in interface.size_keywords.values()]
    results = ["Tensor"] * len(interface.outputs)
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join([*parameters, *(['*', *keywords] if keywords else [])])}) -> {returned}"


def _declared(position: int, parameter: Parameter) -> str:
    match parameter.kind, parameter.dtype:
        case "InOut", _:
            return f"Tensor(a{position}!) {parameter.name}"
        case "scalar", "bool":
            return f"bool {parameter.name}"
        case "scalar", dtype if dtype.startswith(("f", "bf")):
            return f"float {parameter.name}"
        case "scalar", _:
            return f"SymInt {parameter.name}"
        case _:
            return f"Tensor {parameter.name}"


def _empty_results(interface: Interface, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> object:
    """Tensors of the results' shapes; extents may be symbols of the tracer."""
    from intent.host.artifacts import unwrap

    sizes = dict(_sizes(interface, arguments))
    sizes.update((symbol, keywords[keyword]) for symbol, keyword in interface.size_keywords.items())
    device = next((each.device for each in arguments if isinstance(each, torch.Tensor)), None)
    return unwrap([_empty(output, sizes, device) for output in interface.outputs])


def _sizes(interface: Interface, arguments: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for parameter, value in zip(interface.inputs, arguments, strict=True):
        for axis, extent in enumerate(parameter.shape):
            if isinstance(extent, str):
                yield extent, value.shape[axis]


def _empty(output: Parameter, sizes: Mapping[str, Any], device: torch.device | None) -> torch.Tensor:
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in output.shape]
    result: torch.Tensor = torch.empty(shape, dtype=getattr(torch, output.element), device=device)
    return result
