"""The ten kernels written by hand, against which the generated ones are measured, are right themselves."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest
import sample_files
import torch
import triton.language as tl
from sample_files import Case, Sample
from torch_arrays import to_numpy, to_torch
from triton.runtime import interpreter

NAMES = (
    "add_rms_norm", "column_sum", "cross_entropy", "embedding", "gemm", "gemm_bias_gelu", "layer_norm", "saxpy",
    "softmax", "transpose",
)  # fmt: skip
CASES = [
    pytest.param(sample, case, id=name)
    for name, sample, case in sample_files.every_case(sample_files.samples())
    if sample.identity in NAMES and sample_files.case_kind(sample, case) != "zero"
]


@pytest.fixture
def bf16_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's `tl.dot` multiplies the bit patterns of bf16 operands as integers: widen them first."""
    original = interpreter.InterpreterBuilder.create_dot

    def create_dot(self: object, a: object, b: object, *rest: object) -> object:
        return original(self, _widened(a), _widened(b), *rest)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", create_dot)


def _widened(handle: object) -> object:
    if handle.dtype.scalar != tl.bfloat16:
        return handle
    bits = handle.data.astype(np.uint32) << 16
    return interpreter.TensorHandle(bits.view(np.float32), tl.float32)


@pytest.mark.usefixtures("bf16_dot")
@pytest.mark.parametrize(("sample", "case"), CASES)
def test_handwritten_kernel_agrees_with_the_statement(sample: Sample, case: Case) -> None:
    launcher = getattr(importlib.import_module(f"handwritten.{sample.stem}"), sample.stem)
    values = sample_files.arguments(sample, case)
    wanted = sample_files.expected(sample, case, values)
    for keywords in _forms(launcher):
        assert not sample_files.differences(sample, _launched(sample, case, values, launcher, keywords), wanted)


def _forms(launcher: object) -> list[dict[str, bool]]:
    """Kernels that treat long rows differently are tried both ways."""
    assert callable(launcher)
    has_both = "resident" in inspect.signature(launcher).parameters
    return [{"resident": True}, {"resident": False}] if has_both else [{}]


def _launched(
    sample: Sample, case: Case, values: dict[str, object], launcher: object, keywords: dict[str, bool]
) -> dict[str, np.ndarray]:
    assert callable(launcher)
    arrays = {view.name: sample_files.poisoned(view, case) for view in sample.outputs}
    arrays |= {name: np.array(value) for name, value in values.items() if isinstance(value, np.ndarray)}
    tensors = {name: to_torch(array) for name, array in arrays.items()}
    given = {parameter.name: values.get(parameter.name) for parameter in sample.runtime_parameters} | tensors
    launcher(*(value if isinstance(value, torch.Tensor) else float(value) for value in given.values()), **keywords)
    return {view.name: to_numpy(tensors[view.name]) for view in sample.outputs}
