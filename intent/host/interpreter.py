"""Triton's CPU interpreter, as this package uses it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, on CPU tensors."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@cache
def repair_interpreter() -> None:
    """Have conditions spread over tiles stay conditions.

    Triton 3.9's interpreter gives a comparison of scalars the type of its operands. Spread over a tile it then is an
    integer, which the same interpreter refuses as the mask of a load. GPUs are not concerned.
    """
    if not interpreted():
        return
    import triton
    from triton.runtime import interpreter

    if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 7):
        return
    original = interpreter.InterpreterBuilder.create_splat

    def create_splat(builder: Any, tile: Any, scalar: Any) -> Any:  # noqa: ANN401
        spread = original(builder, tile, scalar)
        if scalar.data.dtype != bool:
            return spread
        return interpreter.TensorHandle(spread.data.astype(bool), triton.language.int1)

    interpreter.InterpreterBuilder.create_splat = create_splat
