"""How arrays travel: parts through few slots, a device that is late, threads, and repeated calls of few bytes.

The late device is the CPU, with copies that are done only when something waits for them or a kernel runs, as the
hardware may do it; whoever reuses a slot or reads a result too early gets wrong values.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import hand_written_codes as written
import ml_dtypes
import numpy as np
import pytest
import torch
from array_layouts import LAYOUTS, Array, Shape, laid_out
from sample_files import ROOT
from torch.overrides import TorchFunctionMode

import intent.dtypes as dtypes

SECTION = re.MULTILINE | re.DOTALL
SHAPES: tuple[Shape, ...] = (
    (), (0,), (1,), (7,), (1000,), (0, 5), (5, 0), (3, 400), (400, 3), (1, 1, 1000), (2, 3, 5, 17), (1, 300, 1),
)  # fmt: skip


@pytest.fixture(scope="module")
def loaded() -> ModuleType:
    return written.module(*(each() for each in written.ALL), written.scale("half", dtypes.bf16))


@pytest.fixture(params=[(64, 1), (64, 2), (256, 3), (1 << 25, 2)], ids=lambda slots: f"{slots[1]}x{slots[0]}")
def module(request: pytest.FixtureRequest, loaded: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """With slots of other sizes and numbers."""
    monkeypatch.setattr(loaded, "_SLOT_BYTES", request.param[0])
    monkeypatch.setattr(loaded, "_SLOTS", request.param[1])
    monkeypatch.setattr(loaded, "_DIRECT_BYTES", -1)
    monkeypatch.setattr(loaded, "_PACKED", {})
    return loaded


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=1, keepdims=True)


def counted(shape: Shape, dtype: str) -> Array:
    return (np.arange(int(np.prod(shape))) % 251).reshape(shape).astype(dtype)


# ------------------------------------------------------------------------------------------------------ the late device
class LateDevice(TorchFunctionMode):
    """Copies that nobody waits for are kept back; every tensor says that it is on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: deque[tuple[torch.Tensor, torch.Tensor]] = deque()
        self.done = 0
        self.synchronised = 0
        self.pinned: list[int] = []
        self.memory: dict[int, torch.Tensor] = {}  # of the device, by address

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        if function == torch.Tensor.is_cuda.__get__:  # type: ignore[attr-defined]
            return True
        if function is torch.Tensor.copy_ and kwargs.get("non_blocking"):
            self.begun.append(args)
            return args[0]
        if function is torch.Tensor.copy_ and args[1].untyped_storage().data_ptr() in self.memory:
            self.synchronize()  # a copy from the device that is waited for
        if function is torch.empty:
            pinned = kwargs.pop("pin_memory", False)
            tensor = function(*args, **kwargs)
            self.pinned += [len(tensor)] if pinned else []
            tensor.untyped_storage().fill_(0xA5)
            if not pinned:
                self.memory[tensor.untyped_storage().data_ptr()] = tensor
            return tensor
        return function(*args, **kwargs)

    def work(self, until: int | None = None) -> None:
        """Do what was begun before a moment."""
        while self.begun and (until is None or self.done < until):
            target, source = self.begun.popleft()
            with torch._C.DisableTorchFunction():
                target.copy_(source)
            self.done += 1

    def record_event(self) -> SimpleNamespace:
        moment = self.done + len(self.begun)
        return SimpleNamespace(synchronize=lambda: self.work(moment))

    def synchronize(self) -> None:
        self.synchronised += 1
        self.work()

    def launching(self, launch: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel runs after the copies before it."""

        def run(*arguments: object, **keywords: object) -> object:
            self.work()
            with torch._C.DisableTorchFunction():
                again = launch(*arguments, **keywords)
            return self.launching(again) if callable(again) else again

        return run


@pytest.fixture
def late(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[LateDevice]:
    device = LateDevice()
    for name in ("_SOFTMAX", "_ACCUMULATE", "_HALF", "_TOTAL"):
        kernel = getattr(module, name)
        monkeypatch.setattr(module, name, kernel._replace(launch=device.launching(kernel.launch)))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", device.synchronize)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda of: device)
    with device:
        yield device


def test_results_are_there_when_a_call_returns(module: ModuleType, late: LateDevice) -> None:
    for seed in range(3):  # checked, remembered, repeated
        x = np.random.default_rng(seed).standard_normal((9, 37)).astype("f4")
        result, out = module.softmax(x), np.full_like(x, np.nan)
        np.testing.assert_allclose(result, softmax(x), atol=1e-6)
        module.softmax_out(x, out)
        np.testing.assert_array_equal(out, result)
        x[:] = 0
        assert late.synchronised == 2 * (seed + 1) and not late.begun


def test_arrays_that_are_read_and_written(module: ModuleType, late: LateDevice) -> None:
    total, x = np.arange(300), np.arange(300)
    for count in range(1, 4):
        module.accumulate(x, total[::-1])
        np.testing.assert_array_equal(total, np.arange(300) + count * np.arange(300)[::-1])
    assert not late.begun


def test_bfloat16_in_every_kind(module: ModuleType, late: LateDevice) -> None:
    x = np.arange(200).astype(ml_dtypes.bfloat16)
    for _ in range(3):
        named, carried = module.half(x, 0.5), module.half(x.view("u2"), 0.5)
        assert named.dtype == ml_dtypes.bfloat16 and carried.dtype == np.uint16
        np.testing.assert_array_equal(named, x * ml_dtypes.bfloat16(0.5))
        np.testing.assert_array_equal(carried.view(ml_dtypes.bfloat16), named)


def test_parts_of_everything(module: ModuleType, late: LateDevice) -> None:
    for shape in SHAPES:
        for dtype in ("f4", "f8", "u1", "i2", "?"):
            array = counted(shape, dtype)
            tensor = module._to_device(array, array.dtype.name, "cpu")
            array = array.copy()
            module._to_numpy(tensor, back := np.zeros_like(array))
            np.testing.assert_array_equal(back, array)
    assert len(late.pinned) == 2 * len(SHAPES) * 5
    assert max(late.pinned) <= module._SLOTS * module._SLOT_BYTES


def test_a_late_device_is_noticed(module: ModuleType, late: LateDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test would fail if slots were reused, or results read, without waiting."""
    array = counted((1000,), "f8")
    monkeypatch.setattr(module, "_fence", lambda tensor: lambda: None)
    tensor = module._to_device(array, "float64", "cpu")
    late.work()
    module._to_numpy(tensor, back := np.zeros_like(array))
    assert not np.array_equal(back, array)


# ------------------------------------------------------------------------------------------------- parts, slots, errors
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1"])
def test_parts_of_any_layout(module: ModuleType, layout: str, dtype: str) -> None:
    for shape in SHAPES:
        wanted = counted(shape, dtype)
        array = laid_out(layout, wanted)
        array.flags.writeable = False
        tensor = module._to_device(array, array.dtype.name, "cpu")
        np.testing.assert_array_equal(tensor.numpy(), wanted)
        back = laid_out(layout, np.zeros_like(wanted))
        module._to_numpy(tensor, back)
        np.testing.assert_array_equal(back, wanted)


def test_few_bytes_need_no_slot(module: ModuleType, late: LateDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DIRECT_BYTES", 1000)
    for count, pinned in ((250, 0), (251, 2)):
        array = counted((count,), "f4")
        tensor = module._to_device(array[::-1], "float32", "cpu")
        module._to_numpy(tensor, back := np.zeros_like(array))
        np.testing.assert_array_equal(back, array[::-1])
        assert len(late.pinned) == pinned


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape and 0 not in shape])
def test_inputs_of_step_zero(module: ModuleType, shape: Shape) -> None:
    array = np.broadcast_to(counted(shape[1:], "f4"), shape)
    np.testing.assert_array_equal(module._to_device(array, "float32", "cpu").numpy(), array)


def test_an_error_in_the_middle_leaves_nothing_behind(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((40, 37)).astype("f4")
    fence, parts = module._fence, -(-x.nbytes // module._SLOT_BYTES)

    def failing(tensor: torch.Tensor) -> Callable[[], None]:
        failing.calls += 1  # type: ignore[attr-defined]
        if failing.calls == min(3, parts):  # type: ignore[attr-defined]
            raise MemoryError
        return fence(tensor)

    for copy in (
        lambda: module._to_device(x, "float32", "cpu"),
        lambda: module._to_numpy(torch.from_numpy(x), np.zeros_like(x)),
        lambda: module.softmax(x),
    ):
        failing.calls = 0  # type: ignore[attr-defined]
        monkeypatch.setattr(module, "_fence", failing)
        with pytest.raises(MemoryError):
            copy()
        monkeypatch.setattr(module, "_fence", fence)
        np.testing.assert_allclose(module.softmax(x.copy()), softmax(x), atol=1e-6)
        monkeypatch.setattr(module, "_PACKED", {})


def test_calls_from_many_threads(module: ModuleType) -> None:
    def calls(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for _ in range(4):
            x = generator.standard_normal((3, int(generator.choice([37, 200])))).astype("f4")
            np.testing.assert_allclose(module.softmax(x), softmax(x), atol=1e-6)
            total, more = generator.integers(0, 9, 70), np.arange(70)
            wanted = total + more
            module.accumulate(more, total)
            np.testing.assert_array_equal(total, wanted)

    with _one_launch_at_a_time(module), ThreadPoolExecutor(6) as pool:
        list(pool.map(calls, range(12)))


def test_few_threads_move_arrays_at_a_time(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that little memory is pinned, however many threads call."""
    parts, lock, at_work, most = module._parts, threading.Lock(), 0, 0

    def counted_parts(*pair: torch.Tensor) -> object:
        nonlocal at_work, most
        with lock:
            at_work, most = at_work + 1, max(most, at_work + 1)
        time.sleep(0.02)
        with lock:
            at_work -= 1
        return parts(*pair)

    monkeypatch.setattr(module, "_parts", counted_parts)
    monkeypatch.setattr(module, "_SLOT_BYTES", 1 << 25)
    x = np.arange(100, dtype="f4")
    with ThreadPoolExecutor(6) as pool:
        for tensor in pool.map(lambda _: module._to_device(x, "float32", "cpu"), range(12)):
            np.testing.assert_array_equal(tensor.numpy(), x)
    assert most == 2


@contextmanager
def _one_launch_at_a_time(module: ModuleType) -> Iterator[None]:
    """Triton's interpreter has one state for all threads."""
    lock, patch = threading.Lock(), pytest.MonkeyPatch()

    def locked(launch: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: object, **keywords: object) -> object:
            with lock:
                again = launch(*arguments, **keywords)
            return locked(again) if callable(again) else again

        return run

    for name in ("_SOFTMAX", "_ACCUMULATE"):
        kernel = getattr(module, name)
        patch.setattr(module, name, kernel._replace(launch=locked(kernel.launch)))
    yield
    patch.undo()


# ------------------------------------------------------------------------------------------------------ repeated calls
@pytest.fixture
def checks(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels of the calls that were checked."""
    calls: list[str] = []
    check = module._check
    monkeypatch.setattr(module, "_check", lambda kernel, *rest: (calls.append(kernel.name), check(kernel, *rest))[1])
    return calls


def test_a_form_is_checked_once(module: ModuleType, checks: list[str]) -> None:
    results = []
    for seed in range(4):
        x = np.random.default_rng(seed).standard_normal((3, 37)).astype("f4")
        results.append((module.softmax(x), softmax(x)))
    for result, wanted in results:
        np.testing.assert_allclose(result, wanted, atol=1e-6)
    assert checks == ["softmax"]


def test_what_is_checked_anew(module: ModuleType, checks: list[str]) -> None:
    x, out = np.ones((3, 8), "f4"), np.empty((3, 8), "f4")
    for _ in range(2):
        module.softmax_out(x, out)
    assert len(checks) == 1
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is written, but the array is read-only"):
        module.softmax_out(x, out)
    for array in (np.ones((3, 9), "f4"), np.ones((3, 8), ">f4"), np.ones((8, 3), "f4").T):
        before = len(checks)
        np.testing.assert_allclose(module.softmax(array), 1 / array.shape[1], atol=1e-6)
        assert len(checks) == before + 1
    with pytest.raises(TypeError, match="x must have dtype float32, not int32"):
        module.softmax(x.view("i4"))
    with pytest.raises(TypeError, match="x must be a NumPy array, not list"):
        module.softmax(x.tolist())


def test_overlaps_are_looked_at_in_every_call(module: ModuleType) -> None:
    memory = np.random.default_rng(0).standard_normal((8, 16)).astype("f4")
    x, wanted = memory[:4], softmax(memory[:4])
    for _ in range(2):
        module.softmax_out(x.copy(), np.empty_like(x))
    with pytest.raises(ValueError, match="softmax: x and out overlap in memory"):
        module.softmax_out(x, memory[2:6])
    module.softmax_out(x, x)
    np.testing.assert_allclose(x, wanted, atol=1e-6)


def test_scalars_of_a_repeated_call(module: ModuleType) -> None:
    x = np.arange(5, dtype="f4")
    for factor in (2.0, 3, 0.5):
        np.testing.assert_array_equal(module.scale(x, factor), x * factor)
    for wrong in ("a", True):
        with pytest.raises(TypeError, match="factor must be a number"):
            module.scale(x, wrong)


def test_poisoned_calls_are_never_repeats(
    module: ModuleType, checks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.ones((2, 8), "f4")
    module.softmax(x)
    monkeypatch.setattr(module, "_POISON", True)
    module.softmax(x)
    assert len(checks) == 2


def test_no_more_than_so_many_forms_are_kept(module: ModuleType) -> None:
    for columns in range(1, 70):
        module.scale(np.ones(columns, "f4"), 2.0)
    assert 0 < len(module._PACKED) <= 64


def test_large_arrays_are_not_packed(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PACKED_BYTES", 100)
    module.scale(np.ones(100, "f4"), 2.0)
    assert not module._PACKED


# ------------------------------------------------------------------------------------------- memory of large results
@pytest.fixture
def quick(loaded: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """With a kernel that PyTorch runs, since the arrays are large, and no memory that others have left."""

    def launch(x: torch.Tensor, out: torch.Tensor, factor: float, **sizes: int) -> None:
        torch.mul(x, factor, out=out)

    monkeypatch.setattr(loaded, "_SCALE", loaded._SCALE._replace(launch=launch))
    monkeypatch.setattr(loaded, "_KEPT", defaultdict(list))
    return loaded


def large(module: ModuleType, seed: int) -> tuple[Array, Array]:
    x = np.random.default_rng(seed).standard_normal(1 << 20).astype("f4")
    return module.scale(x, 2.0), x


def test_memory_of_a_result_that_is_gone_is_used_again(quick: ModuleType) -> None:
    result, x = large(quick, 0)
    place, part = result.ctypes.data, result.reshape(1024, 1024)[3:5, ::2]
    np.testing.assert_array_equal(result, x * 2)
    del result
    kept = part.copy()
    other, y = large(quick, 1)  # a part of the first result is still in use
    assert other.ctypes.data != place
    np.testing.assert_array_equal(part, kept)
    np.testing.assert_array_equal(other, y * 2)
    del part
    again, z = large(quick, 2)
    assert again.ctypes.data == place and again.flags.writeable and again.flags.c_contiguous
    np.testing.assert_array_equal(again, z * 2)
    np.testing.assert_array_equal(other, y * 2)


def test_kept_memory_is_bounded(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: defaultdict[int, list[Array]] = quick._KEPT
    monkeypatch.setattr(quick, "_KEPT_BYTES", 10 << 20)
    results = [quick.scale(np.ones(length, "f4"), 2.0) for length in (1 << 20, 1 << 20, (1 << 20) + 1, 1 << 22, 5)]
    assert not any(kept.values())
    del results
    assert 0 < sum(each.nbytes for memory in kept.values() for each in memory) <= 10 << 20


def test_results_of_several_threads_share_no_memory(quick: ModuleType) -> None:
    with ThreadPoolExecutor(4) as pool:
        for _ in range(2):
            found = list(pool.map(lambda seed: large(quick, seed), range(6)))
            for result, x in found:
                np.testing.assert_array_equal(result, x * 2)
            del found


# -------------------------------------------------------------------------------------------------------- the section
def test_the_section_is_short() -> None:
    """What moves arrays is the last part of a module before its judgement of itself; declared overlaps need more."""
    counted = {}
    for path in sorted((ROOT / "golden").glob("*/module.py")):
        found = re.search(
            r"^def (_upload|_to_device)\(.*?(?=\n\n\n_CASES|\n\n\ndef _self_check)", path.read_text(), SECTION
        )
        if found:
            counted[path.parent.name] = found.group(0)
    assert len(counted) > 100
    assert all("def _move(" in section and "def _launch" not in section for section in counted.values())
    lengths = {name: len(text.splitlines()) for name, text in counted.items() if "_upload_overlapping" not in text}
    assert max(lengths.values()) <= 120, lengths
