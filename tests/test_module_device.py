"""The device arm, on CPU tensors as the interpreter allows, and with stand-ins for CuPy."""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType, SimpleNamespace

import hand_written_codes as written
import pytest
import torch

import intent.dtypes as dtypes
from intent.records import replace
from translators.triton_source.launch import KernelCode


@pytest.fixture(scope="module", params=["both", "device"])
def module(request: pytest.FixtureRequest) -> SimpleNamespace:
    """The device functions by their plain names, whatever the module calls them."""
    codes: list[KernelCode] = [each() for each in written.ALL] + [written.scale("half", dtypes.bf16)]
    loaded = written.module(*codes, arm=request.param)
    infix = "_device" if request.param == "both" else ""
    functions = {
        f"{code.kernel.name}{out}": getattr(loaded, f"{code.kernel.name}{infix}{out}")
        for code in codes
        for out in ("", "_out")
    }
    return SimpleNamespace(loaded=loaded, **functions)


def test_results_are_tensors(module: SimpleNamespace) -> None:
    x = torch.randn(5, 37)
    result = module.softmax(x)
    assert isinstance(result, torch.Tensor)
    torch.testing.assert_close(result, torch.softmax(x, 1))
    assert [each.shape for each in module.total(x[0])] == [(), ()]


def test_strided_arrays_are_passed_as_they_are(module: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    for copying in ("clone", "contiguous", "to"):
        monkeypatch.setattr(torch.Tensor, copying, lambda *_, **__: pytest.fail("copied"))
    x, out = torch.randn(37, 10).T[::2], torch.empty(74, 5).T[:, ::2]
    assert module.softmax_out(x, out) is None
    torch.testing.assert_close(torch.add(out, 0), torch.softmax(x, 1))


def test_interleaved_tensors_do_not_overlap(module: SimpleNamespace) -> None:
    memory = torch.randn(5, 74)
    module.softmax_out(memory[:, ::2], memory[:, 1::2])
    torch.testing.assert_close(memory[:, 1::2], torch.softmax(memory[:, ::2], 1))


def test_overlaps(module: SimpleNamespace) -> None:
    memory = torch.randn(6, 37)
    expected = torch.softmax(memory, 1)
    module.softmax_out(memory, memory)
    torch.testing.assert_close(memory, expected)
    with pytest.raises(ValueError, match="softmax: x and out overlap in memory"):
        module.softmax_out(memory[:5], memory[1:])
    x = torch.arange(1.0, 9.0)
    module.total_out(x, x[3], torch.zeros((), dtype=torch.int64))
    assert x[3] == 36


def test_low_precision(module: SimpleNamespace) -> None:
    x = torch.arange(20).to(torch.bfloat16)
    assert module.half(x, 0.5).dtype == torch.bfloat16
    carried = module.half(x.view(torch.uint16), 0.5)
    assert carried.dtype == torch.uint16
    assert torch.equal(carried.view(torch.bfloat16), module.half(x, 0.5))


def test_wrong_arguments(module: SimpleNamespace) -> None:
    with pytest.raises(TypeError, match="softmax: x must have dtype float32, not float64"):
        module.softmax(torch.ones(2, 2, dtype=torch.float64))
    with pytest.raises(TypeError, match="softmax: x must be a device array, not list"):
        module.softmax([[1.0]])
    with pytest.raises(ValueError, match="x is on meta, expected an array on cpu"):
        module.softmax(torch.ones(2, 2, device="meta"))
    with pytest.raises(ValueError, match="different devices: x on cpu, out on meta"):
        module.softmax_out(torch.ones(2, 2), torch.ones(2, 2, device="meta"))


def test_dlpack_arrays(module: SimpleNamespace) -> None:
    tensor = torch.randn(2, 4)
    torch.testing.assert_close(module.softmax(_Exporter(tensor)), torch.softmax(tensor, 1))


class _Exporter:
    """An array of a library that torch does not know."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: object) -> object:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> object:
        return self.tensor.__dlpack_device__()


@pytest.mark.parametrize(("pointer", "wrapped"), [(1234, "external 1234"), (0, "default")])
def test_cupy_arrays_choose_cupys_stream(
    module: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, pointer: int, wrapped: str
) -> None:
    cupy = ModuleType("cupy")
    monkeypatch.setattr(_Exporter, "__module__", "cupy")
    cupy.cuda = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=pointer))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    used: list[object] = []
    monkeypatch.setattr(torch.cuda, "ExternalStream", lambda pointer: f"external {pointer}")
    monkeypatch.setattr(torch.cuda, "default_stream", lambda: "default")
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: used.append(stream) or contextlib.nullcontext())
    module.softmax(torch.ones(1, 2))
    assert not used
    module.softmax(_Exporter(torch.ones(1, 2)))
    assert used == [wrapped]


def test_no_synchronise(module: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: pytest.fail("synchronised"))
    module.softmax(torch.ones(2, 2))


def test_views_of_one_group_lie_in_one_allocation() -> None:
    code = written.accumulate()
    views = [replace(view, alias="pool") for view in code.kernel.views]
    module = written.module(replace(code, kernel=written.kernel("accumulate", *views)))
    pool = torch.arange(12)
    for _ in range(2):  # also when a call like it has been made before
        module.accumulate_device(pool[:4], pool[4:8])
        with pytest.raises(ValueError, match="x and total must lie in one allocation"):
            module.accumulate_device(pool[:4], torch.arange(4))
    assert pool[4:8].tolist() == [4, 7, 10, 13]
