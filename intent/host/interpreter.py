"""Triton's CPU interpreter, as this package uses it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from intent.targets import ReferenceTarget, Target


def interpreted() -> bool:
    """Whether Triton runs kernels in its interpreter, on CPU tensors."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def device_of(target: Target) -> str:
    """Where a target's tensors are made, unless arguments say where: PyTorch's name of the device."""
    if isinstance(target, ReferenceTarget) or interpreted():
        return "cpu"
    return "cuda" if target.device is None else f"cuda:{target.device}"


@cache
def repair_interpreter() -> None:
    """Have whole sums of integers wrap around, and conditions spread over tiles stay conditions.

    GPUs are not concerned. The interpreter raises OverflowError where a sum to a single integer wraps. It gives a
    comparison of scalars the type of its operands: spread over a tile it then is a number, which Triton 3.9's refuses
    as the mask of a load, and all refuse to negate beside a comparison of floats.
    """
    if not interpreted():
        return
    import triton
    from triton.runtime import interpreter

    _let_sums_wrap(interpreter)
    original = interpreter.InterpreterBuilder.create_splat

    def create_splat(builder: Any, tile: Any, scalar: Any) -> Any:  # noqa: ANN401
        spread = original(builder, tile, scalar)
        if scalar.data.dtype != bool:
            return spread
        return interpreter.TensorHandle(spread.data.astype(bool), triton.language.int1)

    interpreter.InterpreterBuilder.create_splat = create_splat


def _let_sums_wrap(interpreter: Any) -> None:  # noqa: ANN401
    import numpy as np

    owner = interpreter.ReduceScanOpInterface
    original = owner.to_tensor

    def to_tensor(operation: Any, result: Any, dtype: Any) -> Any:  # noqa: ANN401
        if isinstance(result, np.integer):
            result = result.astype(interpreter._get_np_dtype(dtype))
        return original(operation, result, dtype)

    owner.to_tensor = to_tensor
