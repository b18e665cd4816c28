"""The machinery that compares modules with the reference: roles of inputs, tolerances, program orders."""

from __future__ import annotations

import hand_written_codes as written
import numpy as np
import pytest

from intent.records import replace
from intentc.differential import (
    Difference,
    allowed,
    by_module,
    by_reference,
    compare,
    differences,
    longest_reduction,
    permuted_programs,
)
from intentc.index_roles import depends_on_data, index_roles
from intentc.kernel_inputs import default_sizes, make_inputs, strided, sweep, symbols, with_specials
from translators.intent_source.read import read_program
from translators.logical.program import Kernel

HEAD = "import intent\nimport intent.language as I\n\n\n@intent.kernel\n"

SOFTMAX = """
def softmax(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        e = I.exp(v - I.reduce.max(v, axis=0))
        out[row, columns] = e / I.reduce.sum(e, axis=0)
"""

ACCUMULATE = """
def accumulate(x: I.In[I.i64, ("N",)], total: I.InOut[I.i64, ("N",)]):
    total[:] = total[:] + x[:]
"""

GATHER = """
def pick(table: I.In[I.f32, ("V", "D")], rows: I.In[I.i32, ("N",)], out: I.Out[I.f32, ("N", "D")]):
    N = rows.shape[0]
    for n in I.parallel(I.domain(0, N)):
        row = I.cast(rows[n], I.index)
        out[n, :] = table[row, :]
"""

SEGMENTS = """
def segments(start: I.In[I.index, ("M",)], x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("M",)]):
    M = out.shape[0]
    for m in I.parallel(I.domain(0, M)):
        out[m] = I.reduce.sum(x[I.domain(start[0], start[m])], axis=0)
"""

BEGINNING = """
def beginning(x: I.In[I.f32, ("M",)], end: I.i32, out: I.Out[I.f32, ("M",)]):
    seen = I.domain(0, x.shape[0])[0 : I.cast(end, I.index)]
    out[seen] = x[seen]
"""


def kernel(text: str) -> Kernel:
    result = read_program(HEAD + text.lstrip(), "kernel.py")
    assert result.program is not None, result.diagnostics
    return result.program.kernels[0]


def test_every_sample_gets_inputs_the_reference_accepts() -> None:
    for text in (SOFTMAX, ACCUMULATE, GATHER, SEGMENTS):
        each = kernel(text)
        for sizes in sweep(each, default_sizes(each)):
            if 0 not in sizes.values():
                by_reference(each, make_inputs(each, sizes), sizes)


def test_roles_of_inputs() -> None:
    assert index_roles(kernel(SOFTMAX)) == {}
    assert index_roles(kernel(GATHER)) == {"rows": "index"}
    assert index_roles(kernel(SEGMENTS))["start"] == "bound"
    assert depends_on_data(kernel(GATHER)) and not depends_on_data(kernel(SOFTMAX))


def test_bounds_increase_and_indices_are_legal() -> None:
    sizes = {"N": 30, "M": 9}
    start = np.asarray(make_inputs(kernel(SEGMENTS), sizes)["start"])
    assert (np.diff(start) >= 0).all() and start.min() >= 0 and start.max() < 9
    rows = np.asarray(make_inputs(kernel(GATHER), {"V": 4, "D": 8, "N": 100})["rows"])
    assert set(rows.tolist()) == {0, 1, 2, 3}


def test_inputs_are_reproducible_and_can_be_given() -> None:
    each = kernel(SOFTMAX)
    sizes = default_sizes(each)
    assert symbols(each) == ["M", "N"] and sizes == {"M": 5, "N": 37}
    np.testing.assert_array_equal(make_inputs(each, sizes, 3)["x"], make_inputs(each, sizes, 3)["x"])
    given = np.zeros((5, 37), "f4")
    assert make_inputs(each, sizes, given={"x": given})["x"] is given


@pytest.mark.parametrize("kind", ["contiguous", "strided", "special", "permuted"])
def test_a_right_module_agrees(kind: str) -> None:
    each, module = kernel(SOFTMAX), written.module(written.softmax())
    for sizes in sweep(each, default_sizes(each)):
        inputs = make_inputs(each, sizes)
        if kind == "strided":
            inputs = {name: strided(np.asarray(value)) for name, value in inputs.items()}
        if kind == "special":
            inputs = with_specials(each, inputs)
        if kind == "permuted":
            with permuted_programs():
                found = differences(each, module.softmax_out, inputs, sizes)
        else:
            found = differences(each, module.softmax_out, inputs, sizes)
        assert [difference.agrees for difference in found] == [True], (sizes, *map(str, found))


def test_a_wrong_module_differs() -> None:
    each, module = kernel(SOFTMAX), written.module(written.softmax())
    sizes = default_sizes(each)

    def wrong(x: np.ndarray, out: np.ndarray) -> None:
        module.softmax_out(x, out)
        out[0, 0] *= 1.001

    (found,) = differences(each, wrong, make_inputs(each, sizes), sizes)
    assert not found.agrees and "DIFFERS" in str(found)


def test_inout_is_compared_and_restored() -> None:
    each, module = kernel(ACCUMULATE), written.module(written.accumulate())
    sizes = default_sizes(each)
    inputs = make_inputs(each, sizes)
    inputs["total"] = strided(np.asarray(inputs["total"]))
    before = np.array(inputs["total"])
    assert differences(each, module.accumulate_out, inputs, sizes) == [Difference("total", 0.0, 0.0, 0.0)]
    np.testing.assert_array_equal(np.asarray(inputs["total"]), before)


def test_what_is_not_written_counts_for_nothing() -> None:
    """A host function that copies outputs back has whatever was in the device's memory there."""
    each = kernel(BEGINNING)
    sizes = {"M": 6}
    x = np.arange(6, dtype=np.float32)

    def copied(x: np.ndarray, end: int, out: np.ndarray, wrong: float = 0.0) -> None:
        out[:] = [np.nan, np.inf, 1e30, -1.0, 0.0, 7.0]
        out[:end] = x[:end] + wrong

    (found,) = differences(each, copied, {"x": x, "end": 3}, sizes)
    assert found.agrees
    (found,) = differences(each, lambda *given: copied(*given, wrong=1.0), {"x": x, "end": 3}, sizes)
    assert not found.agrees


def test_an_order_of_programs_that_matters_is_found() -> None:
    """Every program reads an element that one of them writes: the interpreter's order hides it, another does not."""
    code = written.accumulate()
    source = code.variants[0].source.replace(
        "total_ptr + columns * stride_total_n, mask", "total_ptr + columns * 0, mask"
    )
    module = written.module(replace(code, variants=(replace(code.variants[0], source=source),)))

    def result() -> list[int]:
        total = np.arange(300)
        module.accumulate(np.ones(300, "i8"), total)
        return list(total)

    forwards = result()
    with permuted_programs():
        assert forwards != result()


def test_tolerance_follows_the_longest_reduction() -> None:
    each = kernel(SOFTMAX)
    (out,) = (view for view in each.views if view.direction == "Out")
    assert longest_reduction(each, {"M": 3, "N": 400}) == 400
    assert allowed(each, out, {"M": 3, "N": 400}) == pytest.approx(64 * 2.0**-23 * 20)


def test_special_values_must_stand_at_the_same_places() -> None:
    each = kernel(SOFTMAX)
    (out,) = (view for view in each.views if view.direction == "Out")
    sizes = {"M": 1, "N": 3}
    wanted = np.array([[np.nan, np.inf, 1.0]], "f4")
    assert compare(each, out, wanted.copy(), wanted, sizes).agrees
    for wrong in ([[0.0, np.inf, 1.0]], [[np.nan, -np.inf, 1.0]], [[np.nan, np.inf, np.nan]]):
        assert not compare(each, out, np.array(wrong, "f4"), wanted, sizes).agrees


def test_outputs_begin_as_a_pattern() -> None:
    each = kernel(SOFTMAX)
    sizes = default_sizes(each)
    outputs = by_module(each, lambda *_: None, make_inputs(each, sizes), sizes, 0x5A)
    assert set(outputs["out"].view("u4").ravel().tolist()) == {0x5A5A5A5A}
