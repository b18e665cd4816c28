"""Launches: which variants are compiled, address width, tuning by vendor, poisoning, the self-check."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import hand_written_codes as written
import numpy as np
import pytest
import torch

from intent.records import replace
from translators.triton_source.launch import KernelCode
from translators.triton_source.module import ModuleOptions, write_module

STATEMENT = """
def statement(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
"""


Counting = Callable[[ModuleType], Callable[[], int]]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Counting:
    """Counts what a module compiles: launches that differ in device function or options."""

    def counting(module: ModuleType) -> Callable[[], int]:
        keys, start = set(), module._start

        def counted(kernel: object, programs: int, views: object, others: object, options: dict[str, object]) -> object:
            keys.add((kernel, *options.items()))
            return start(kernel, programs, views, others, options)

        monkeypatch.setattr(module, "_start", counted)
        return lambda: len(keys)

    return counting


def test_a_second_shape_of_a_bucket_and_class_compiles_nothing(compiled: Counting) -> None:
    module = written.module(written.softmax())
    count = compiled(module)
    for columns in (16, 32, 48, 64):
        for rows in (1, 3, 16, 1000):
            module.softmax_device(torch.ones(rows, columns))
    assert count() == 1
    for columns in (1, 5, 37, 63):
        module.softmax_device(torch.ones(3, columns))
    assert count() == 2


def test_ordinary_use_compiles_at_most_two_forms_of_each_bucket(compiled: Counting) -> None:
    module = written.module(written.softmax())
    count = compiled(module)
    for columns in range(1, 400, 7):
        for rows in (1, 4):
            module.softmax(np.ones((rows, columns), "f4"))
    assert count() <= 6


def test_arrays_of_any_stride_are_one_more_form(compiled: Counting) -> None:
    module = written.module(written.softmax())
    count = compiled(module)
    base = torch.ones(200, 200)
    for x in (base[:32, :64:2], base.T[:5, :7], base[::3, 1::5], base[:16, ::4]):
        module.softmax_device_out(x, torch.empty(x.shape))
    assert count() == 1


def test_misaligned_memory_is_not_taken_for_aligned(compiled: Counting) -> None:
    module = written.module(written.scale())
    count = compiled(module)
    memory = torch.ones(65)
    module.scale_device(memory[:64], 2.0)
    module.scale_device(memory[1:], 2.0)
    assert count() == 2


def test_runtime_scalars_are_no_reason_to_compile(compiled: Counting) -> None:
    module = written.module(written.scale())
    count = compiled(module)
    for factor in (0.0, 1.0, 1.5, 16.0):
        module.scale(np.ones(64, "f4"), factor)
    assert count() == 1


def test_compilation_comes_before_the_first_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    module = written.module(written.accumulate())
    monkeypatch.setattr(
        type(module.accumulate_kernel), "warmup", lambda *_, **__: (_ for _ in ()).throw(MemoryError("shared memory"))
    )
    total = torch.ones(4, dtype=torch.int64)
    with pytest.raises(MemoryError):
        module.accumulate_device(torch.ones(4, dtype=torch.int64), total)
    assert total.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(("stride", "name"), [(2**20, "int32"), (2**29, "int64")])
def test_wide_addresses_for_wide_views(stride: int, name: str) -> None:
    module = written.module(written.softmax())
    view = torch.empty(1).as_strided((1, 1), (1, 1))
    wide = SimpleView((5, 1), (stride, 1))
    assert str(module._index_type(view, wide)) == name


class SimpleView:
    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.shape = shape
        self.strides = strides

    def stride(self) -> tuple[int, ...]:
        return self.strides


@pytest.mark.parametrize(("vendor", "expected"), [(None, (4, 3)), ("7.2", (2, 2))])
def test_tuning_by_vendor(vendor: str | None, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    module = written.module(written.scale())
    monkeypatch.setattr(torch.version, "hip", vendor)
    options: dict[str, int] = {}
    monkeypatch.setattr(type(module.scale_kernel), "warmup", lambda *_, grid, **given: options.update(given))
    module.scale_device(torch.ones(3), 1.0)
    assert (options["num_warps"], options["num_stages"]) == expected


# ------------------------------------------------------------------------------------------------------------ poisoning
def _leaves_elements_unwritten(covered: frozenset[str]) -> KernelCode:
    code = written.scale()
    source = code.variants[0].source.replace("mask = columns < N", "mask = columns < N - 1")
    return replace(code, variants=(replace(code.variants[0], source=source),), covered=covered)


@pytest.mark.parametrize("arm", ["", "_device"])
def test_poisoning_finds_what_was_not_written(arm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(9) if arm else np.ones(9, "f4")
    module = written.module(_leaves_elements_unwritten(frozenset({"out"})))
    monkeypatch.setattr(module, "_POISON", True)
    with pytest.raises(RuntimeError, match="scale: 1 of 9 elements of out were not written"):
        getattr(module, f"scale{arm}")(x, 2.0)


def test_poisoning_only_reports_where_writes_may_be_conditional(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = written.module(_leaves_elements_unwritten(frozenset()))
    monkeypatch.setattr(module, "_POISON", True)
    module.scale(np.ones(9, "f4"), 2.0)
    assert "1 of 9 elements of out were not written" in capsys.readouterr().err


def test_poisoning_does_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    module = written.module(*(each() for each in written.ALL))
    monkeypatch.setattr(module, "_POISON", True)
    total, x = np.ones(5, "i8"), np.arange(8, dtype="f4").reshape(2, 4)
    module.accumulate(np.arange(5), total)
    assert total.tolist() == [1, 2, 3, 4, 5]
    expected = torch.softmax(torch.tensor(x), 1).numpy()
    module.softmax_out(x, x)  # in place: the output cannot be poisoned
    np.testing.assert_allclose(x, expected, atol=1e-6)
    assert module.groups(np.arange(10, dtype="f4"), G=3).tolist() == [18.0, 12.0, 15.0]


# ----------------------------------------------------------------------------------------------------------- self-check
def _self_check(
    folder: Path, code: KernelCode, statement: str | None = STATEMENT, arm: str = "both"
) -> tuple[int, str]:
    statements = {code.kernel.name: statement} if statement else {}
    options = ModuleOptions(arm=arm, statements=statements)  # type: ignore[arg-type]
    path = folder / "module.py"
    path.write_text(write_module(written.program(code), [code], options), encoding="utf-8")
    environment = os.environ | {"TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("arm", ["both", "device", "host"])
def test_self_check_passes(tmp_path: Path, arm: str) -> None:
    status, output = _self_check(tmp_path, written.softmax(), arm=arm)
    assert status == 0 and output.count("ok") == 3, output


def test_self_check_finds_a_wrong_result(tmp_path: Path) -> None:
    status, output = _self_check(tmp_path, written.softmax(), STATEMENT.replace("return e", "return 1.001 * e"))
    assert status != 0 and "differs in out" in output


def test_self_check_finds_unwritten_elements(tmp_path: Path) -> None:
    status, output = _self_check(tmp_path, _leaves_elements_unwritten(frozenset({"out"})), None)
    assert status != 0 and "not written" in output


def test_self_check_finds_an_update_that_depends_on_the_order(tmp_path: Path) -> None:
    code = written.groups()
    source = code.variants[0].source.replace("    tl.store(work_ptr + group, 0.0)\n", "")
    wrong = replace(code, variants=(replace(code.variants[0], source=source),))
    status, output = _self_check(tmp_path, wrong, None)
    assert status != 0 and "differs in partial" in output


def test_no_gpu_and_no_interpreter_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(write_module(written.program(written.scale()), [written.scale()]), encoding="utf-8")
    call = "import numpy, module; module.scale(numpy.ones(3, 'f4'), 2.0)"
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [sys.executable, "-c", call], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert "no GPU found: use a machine with one, or set TRITON_INTERPRET=1" in done.stderr
