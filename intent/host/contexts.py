"""What `build(context)` receives: a thin adapter over compiling and allocating for one target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intent.annotations import dtype as named
from intent.dtypes import DType
from intent.host.artifacts import Artifact
from intent.host.compilation import CompileOptions
from intent.host.interpreter import device_of
from intent.targets import Target


class Context:
    """Compiles kernels for one target, and allocates tensors on it."""

    __slots__ = ("_compile", "artifacts", "options", "target")

    def __init__(self, compile: Callable[..., Artifact], target: Target, options: CompileOptions | None) -> None:
        self._compile = compile
        self.target = target
        self.options = options
        self.artifacts: dict[str, Artifact] = {}

    def compile(self, name: str, kernel: object, constexprs: Mapping[str, object] | None = None) -> Artifact:
        """Compile a kernel. The name stands for this specialisation, and finds it in `artifacts`."""
        if not isinstance(name, str):
            raise TypeError(f"context.compile takes a name, then the kernel; {name!r} is no name")
        self.artifacts[name] = self._compile(kernel, self.target, constexprs, self.options)
        return self.artifacts[name]

    def empty(self, shape: Sequence[int], dtype: object) -> Any:  # noqa: ANN401 - a tensor
        """An uninitialised tensor on the target's device. The dtype is one of the language or its name, or PyTorch's.

        ValueError for another name.
        """
        import torch

        element = named(dtype) if isinstance(dtype, str) else dtype
        kind = getattr(torch, element.element) if isinstance(element, DType) else element
        return torch.empty(tuple(shape), dtype=kind, device=device_of(self.target))
