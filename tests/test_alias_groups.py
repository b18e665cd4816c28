"""Views of one alias group share an allocation: what one writes, another reads, wherever their elements overlap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from types import ModuleType
from typing import Final

import numpy as np
import program_runs
import pytest
from device_arrays import on_device
from generated_modules import permuted_programs

from translators.logical.reference import evaluate

pytestmark = pytest.mark.gpu

torch = pytest.importorskip("torch")

Arrays = Mapping[str, np.ndarray]

KERNELS: Final = {
    "reads before": """
        out[n] = x[n] + y[n]
        y[n] = x[n] * 2.0
    """,
    "reads after": """
        y[n] = y[n] * 2.0 + 1.0
        out[n] = x[n]
    """,
    "reads on both sides": """
        y[n] = x[n] + 1.0
        out[n] = x[n] * y[n]
        y[n] = x[n] + out[n]
    """,
    "backwards": """
        at = I.indices(n)
        y[n] = x[x.shape[0] - 1 - at] + 1.0
        out[n] = x[n]
    """,
    "sums between": """
        y[n] = x[n] + 1.0
        total = I.reduce.sum(x[n], axis=0)
        y[n] = x[n] - total
        out[n] = x[n] + I.reduce.sum(y[n], axis=0)
    """,
    "points": """
        for i in I.parallel(n):
            y[i] = y[i] + 1.0
        for i in I.parallel(n):
            out[i] = x[i]
    """,
    "one after another": """
        for i in n:
            y[i] = x[i] * 0.5 + 1.0
        out[n] = x[n]
    """,
    "scan": """
        y[n] = I.cumsum(x[n], axis=0)
        out[n] = x[n]
    """,
    "after a copy": """
        copied = I.buffer((x.shape[0],), I.f32)
        copied[n] = x[n]
        y[n] = copied[n] * 2.0
        out[n] = x[n] + copied[n]
    """,
    "through both": """
        y[n] = out[n] + x[n]
        for i in n:
            if x[i] > 3.0:
                y[x.shape[0] - 1 - i] = x[i] - 2.0
    """,
    "updates": """
        I.scatter_reduce(y, index=(I.indices(n) // 2,), value=x[n], combine=I.add)
        out[n] = x[n]
    """,
}


def _text(body: str) -> str:
    group = 'I.constraints(alias="pool")'
    return f"""
    @intent.kernel
    def step(
        x: I.In[I.f32, ("N",), {group}], y: I.InOut[I.f32, ("N",), {group}], out: I.InOut[I.f32, ("N",)],
    ):
        n = I.domain(0, x.shape[0])
        {body.strip()}
    """


def _same(size: int) -> Arrays:
    pool = np.arange(1, size + 1, dtype="f4")
    return {"x": pool, "y": pool}


def _shifted(size: int, x: int, y: int, step: int = 1) -> Arrays:
    pool = np.arange(1, (2 * size + 3) * step + 1, dtype="f4")
    return {"x": pool[x : x + size * step : step], "y": pool[y : y + size * step : step]}


PLACES: Final[Mapping[str, Callable[[int], Arrays]]] = {
    "same": _same,
    "later": lambda size: _shifted(size, 0, 1),
    "earlier": lambda size: _shifted(size, 2, 0),
    "in steps": lambda size: _shifted(size, 0, 2, 2),
    "between": lambda size: _shifted(size, 0, 1, 2),
    "backwards": lambda size: dict.fromkeys(("x", "y"), np.arange(1, size + 1, dtype="f4")[::-1]),
    "disjoint": lambda size: _shifted(size, 0, size),
}


def _arguments(place: str, size: int) -> dict[str, np.ndarray]:
    return {**PLACES[place](size), "out": np.full(size, -7, "f4")}


def _run(module: ModuleType, arm: str, given: dict[str, np.ndarray]) -> None:
    if arm == "host":
        module.step_out(*given.values())
        return
    with on_device(given) as tensors:
        module.step_device(*tensors.values())


def _base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


WAYS: Final = [
    (place, arm) for place in PLACES for arm in ("host", "device") if (place, arm) != ("backwards", "device")
]  # tensors have no steps backwards


@pytest.mark.parametrize(("place", "arm"), WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_writes_are_seen_through_all_views_of_a_group(name: str, place: str, arm: str) -> None:
    text = _text(KERNELS[name])
    program = program_runs.compiled(text, small=True).program
    assert program is not None
    for size in (0, 1, 5, 37):
        for order in (nullcontext, permuted_programs):
            wanted, given = _arguments(place, size), _arguments(place, size)
            evaluate(program.kernels[0], wanted)  # type: ignore[arg-type]
            with order():
                _run(program_runs.module(text, small=True), arm, given)
            for key, array in wanted.items():
                np.testing.assert_array_equal(_base(given[key]), _base(array), err_msg=f"{key} at {size}")


def _both(text: str, arguments: Callable[[], dict[str, np.ndarray]]) -> None:
    program = program_runs.compiled(text, small=True).program
    assert program is not None
    for arm in ("host", "device") if all(min(array.strides) > 0 for array in arguments().values()) else ("host",):
        for order in (nullcontext, permuted_programs):
            wanted, given = arguments(), arguments()
            evaluate(program.kernels[0], wanted)  # type: ignore[arg-type]
            with order():
                _run(program_runs.module(text, small=True), arm, given)
            for key, array in wanted.items():
                np.testing.assert_array_equal(_base(given[key]), _base(array), err_msg=f"{key}, {arm}")


def test_two_written_views_are_written_in_statement_order() -> None:
    text = """
    @intent.kernel
    def step(
        a: I.InOut[I.f32, ("N",), I.constraints(alias="pool")], b: I.InOut[I.f32, ("N",), I.constraints(alias="pool")],
        x: I.In[I.f32, ("N",)],
    ):
        n = I.domain(0, a.shape[0])
        a[n] = x[n]
        b[n] = x[n] + 100.0
    """
    for first, second in ((0, 0), (0, 1), (3, 0)):

        def arguments(first: int = first, second: int = second) -> dict[str, np.ndarray]:
            pool = np.zeros(40, "f4")
            return {"a": pool[first : first + 33], "b": pool[second : second + 33], "x": np.arange(33, dtype="f4")}

        _both(text, arguments)


def test_what_was_read_before_two_writes_is_not_read_again() -> None:
    text = """
    @intent.kernel
    def step(
        a: I.InOut[I.f32, ("N",), I.constraints(alias="pool")], b: I.InOut[I.f32, ("N",), I.constraints(alias="pool")]
    ):
        before = b[:]
        a[:] = before * 2.0
        b[:] = before + 100.0
    """

    def arguments() -> dict[str, np.ndarray]:
        pool = np.arange(40, dtype="f4")
        return {"a": pool[1:34], "b": pool[:33]}

    _both(text, arguments)


def test_views_that_are_no_inputs_are_not_copied() -> None:
    text = """
    @intent.kernel
    def step(
        a: I.InOut[I.f32, ("N",), I.constraints(alias="pool")], b: I.InOut[I.f32, ("N",), I.constraints(alias="pool")]
    ):
        n = I.domain(0, a.shape[0])
        a[n] = b[n] * 2.0
    """
    for first, second in ((0, 0), (0, 1), (3, 0)):

        def arguments(first: int = first, second: int = second) -> dict[str, np.ndarray]:
            pool = np.arange(40, dtype="f4")
            return {"a": pool[first : first + 33], "b": pool[second : second + 33]}

        _both(text, arguments)


def test_reads_of_what_the_view_itself_wrote_keep_programs_side_by_side() -> None:
    text = """
    @intent.kernel
    def step(
        x: I.In[I.f32, ("N",), I.constraints(alias="pool")], y: I.InOut[I.f32, ("N",), I.constraints(alias="pool")],
        out: I.InOut[I.f32, ("N",)],
    ):
        n = I.domain(0, x.shape[0])
        before = x[n]
        y[n] = y[n] + 1.0
        y[n] = y[n] * before
        out[n] = y[n] - before
    """
    for place in PLACES:
        _both(text, lambda place=place: _arguments(place, 37))  # type: ignore[misc]
    assert "tl.program_id" in program_runs.device_text(text)
    undeclared = text.replace(', I.constraints(alias="pool")', "")
    pool = np.arange(9, dtype="f4")
    program_runs.module(undeclared).step(pool[:8], pool[1:], out := np.zeros(8, "f4"))
    assert out.tolist() == [(at + 2) * at - at for at in range(8)]


def test_inputs_that_are_read_before_any_write_keep_their_values() -> None:
    text = """
    @intent.kernel
    def step(
        x: I.In[I.f32, ("N",), I.constraints(alias="pool")], y: I.InOut[I.f32, ("N",), I.constraints(alias="pool")],
    ):
        y[:] = y[:] + x[:]
    """
    for place in PLACES:
        _both(text, lambda place=place: dict(PLACES[place](37)))  # type: ignore[misc]
    assert "debug_barrier" not in program_runs.device_text(text)  # and their programs run side by side


def test_views_of_other_ranks_and_types_see_each_other_s_bytes() -> None:
    text = """
    @intent.kernel
    def step(
        bits: I.In[I.i32, ("K",), I.constraints(alias="pool")],
        rows: I.InOut[I.f32, ("M", "N"), I.constraints(alias="pool")],
        column: I.InOut[I.f32, ("M",), I.constraints(alias="pool")],
        found: I.InOut[I.i32, ("K",)],
    ):
        rows[:, :] = rows[:, :] * 2.0
        column[:] = column[:] + I.reduce.sum(rows[:, :], axis=1)
        found[:] = bits[:]
        for m in I.parallel(I.domain(0, rows.shape[0])):
            rows[m, :] = rows[m, :] + column[m]
    """

    def arguments() -> dict[str, np.ndarray]:
        pool = np.arange(1, 42, dtype="f4")
        rows = pool[1:36].reshape(5, 7)
        return {"bits": pool.view("i4")[3:30], "rows": rows[:, :6], "column": rows[:, 6], "found": np.zeros(27, "i4")}

    _both(text, arguments)


def test_a_barrier_stands_between_a_write_and_a_read_through_another_view() -> None:
    lines = program_runs.device_text(_text(KERNELS["reads after"])).splitlines()
    written = next(place for place, line in enumerate(lines) if "tl.store(y" in line)
    read = next(place for place, line in enumerate(lines) if "tl.load(x" in line)
    assert written < read
    assert any("debug_barrier" in line for line in lines[written:read])


def test_overlaps_in_steps_that_tensors_do_not_have_are_refused() -> None:
    module = program_runs.module(_text(KERNELS["reads after"]))
    pool = np.arange(12, dtype="f4")
    with pytest.raises(ValueError, match="y overlaps in memory in steps, which it does not support"):
        module.step_out(pool[:8], pool[8:0:-1], np.zeros(8, "f4"))
    assert pool.tolist() == list(range(12))
    module.step_out(pool[4:8], pool[3::-1], out := np.zeros(4, "f4"))  # they have no element in common
    assert pool[:4].tolist() == [1, 3, 5, 7]
    assert out.tolist() == [4, 5, 6, 7]


def test_overlaps_that_are_not_declared_are_refused_where_a_read_follows_an_update() -> None:
    module = program_runs.module(
        """
        @intent.kernel
        def step(x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",)], out: I.Out[I.f32, ("N",)]):
            n = I.domain(0, x.shape[0])
            I.scatter_reduce(y, index=(I.indices(n) // 2,), value=I.full((x.shape[0],), 1.0, I.f32), combine=I.add)
            out[n] = x[n]
        """
    )
    pool = np.arange(8, dtype="f4")
    with pytest.raises(ValueError, match="x and y overlap in memory"):
        module.step_out(pool, pool, np.zeros(8, "f4"))
