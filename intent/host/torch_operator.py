"""A compiled kernel as a PyTorch operator, with a schema, a form without data, and its mutations declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch

from intent.host.arguments import Values, check_kind, with_outputs, wrong_extent
from intent.host.artifacts import Artifact, unwrap
from intent.host.interface import Interface, Parameter
from intent.host.interpreter import device_of
from intent.host.outputs import tensor_outputs


def torch_operator(artifact: Artifact, name: str) -> Callable[..., Any]:
    """`artifact.run` under a name of PyTorch's registry. Whoever asks again for the same gets the same operator."""
    interface = artifact.interface
    qualified = name if "::" in name else f"intent::{name}"
    if not all(part.isidentifier() for part in qualified.split("::", 1)):
        raise ValueError(f"{interface.name}: an operator is called namespace::name, not {name!r}")
    known = _registered().get(qualified)
    if known is None:
        _check_free(interface, qualified)
        known = _registered()[qualified] = artifact, _new_operator(artifact, qualified)
    if not known[0].is_same(artifact):
        raise ValueError(f"{interface.name}: {qualified} is the operator of another kernel, {known[0].interface}")
    return known[1]


@cache
def _registered() -> dict[str, tuple[Artifact, Callable[..., Any]]]:
    """The operators of this process by name. PyTorch would let the second of a name take the place of the first, also
    for those who hold that."""
    return {}


def _check_free(interface: Interface, qualified: str) -> None:
    namespace, name = qualified.split("::")
    if hasattr(getattr(torch.ops, namespace), name):
        raise ValueError(f"{interface.name}: PyTorch has another operator {qualified}")


def _new_operator(artifact: Artifact, qualified: str) -> Callable[..., Any]:
    interface = artifact.interface
    mutated = [parameter.name for parameter in interface.inputs if parameter.writable]

    def without_data(*arguments: Any, **keywords: Any) -> object:  # noqa: ANN401 - what PyTorch hands over
        return unwrap(_empty_results(artifact, arguments, keywords))

    def on_empty(*arguments: Any, **keywords: Any) -> object:  # noqa: ANN401
        """Nothing says of which library results shall be: they are tensors here."""
        results = _empty_results(artifact, arguments, keywords)
        artifact(*with_outputs(interface, arguments, results))
        return unwrap(results)

    execute = artifact.run if any(parameter.is_view for parameter in interface.inputs) else on_empty
    schema = operator_schema(interface)
    operator: Any = torch.library.custom_op(qualified, execute, mutates_args=mutated, schema=schema)
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


def _empty_results(artifact: Artifact, arguments: Values, keywords: Mapping[str, Any]) -> Sequence[object]:
    """Tensors of the results' shapes; extents may be symbols of the tracer."""
    interface = artifact.interface
    sizes = _sizes(interface, arguments)
    sizes.update((symbol, keywords[keyword]) for symbol, keyword in interface.size_keywords.items())
    return tensor_outputs(interface, arguments, sizes, device_of(artifact.target))


def _sizes(interface: Interface, arguments: Values) -> dict[str, Any]:
    """The extents of the arguments, which are held against their declarations. What is not known yet is checked where
    the operator is executed, or, if the tracer can, while it is traced."""
    sizes: dict[str, Any] = {}
    for parameter, value in zip(interface.inputs, arguments, strict=True):
        if not parameter.is_view or not isinstance(value, torch.Tensor):
            continue
        check_kind(interface.name, parameter, value)
        for axis, (extent, size) in enumerate(zip(parameter.shape, value.shape, strict=True)):
            expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
            if not isinstance(size, int) or not isinstance(expected, int):
                torch._check(size == expected)
            elif size != expected:
                raise ValueError(wrong_extent(interface.name, parameter, axis, expected, tuple(value.shape)))
    return sizes
