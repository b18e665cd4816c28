"""Bindings, stores, and what is not part of the language."""

from __future__ import annotations

import pytest

from tests.reading import check_error, errors, in_kernel, read, shown
from translators.logical.program import Let, Read, Write


def statements(body: str) -> list[str]:
    """The kinds of the statements after the scalar parameter's."""
    return [type(statement).__name__ for statement in read(in_kernel(body)).body.statements[1:]]


def test_tuple_targets_swaps_and_chains() -> None:
    text = shown(in_kernel("a, b = x[0], x[1]\na, b = b, a\nc = d = a\n(e, _), f = (c, d), b\no[0] = e - f"))
    assert "%3: f32 = subtract %b, %a" in text


def test_shapes_unpack_and_discard() -> None:
    body = "M, _ = m.shape\nfor i in I.parallel(range(M)):\n    m[i, 0] = 0.0"
    text = '@intent.kernel\ndef kernel(m: I.InOut[I.f32, ("M", "N")]):\n' + "\n".join(
        f"    {line}" for line in body.split("\n")
    )
    assert "%M: index = size M" in shown(text)


def test_an_annotated_literal_has_its_dtype() -> None:
    assert "%acc: f32 = 0.5" in shown(in_kernel("acc: I.f32 = 0.5\no[0] = acc"))
    check_error(in_kernel("acc: float = 0.5"), "INT110", "float")
    check_error(in_kernel("acc: I.f32"), "INT119", "acc: I.f32")


def test_an_annotation_does_not_convert() -> None:
    found = errors(in_kernel("acc: I.f64 = x[0]"))
    assert len(found) == 1 and found[0].span.column == 18


def test_augmented_assignment_evaluates_its_index_once() -> None:
    kernel = read(
        in_kernel("o[o_index(n)] += 1.0") + "\n@intent.fn\ndef o_index(n):\n    return I.cast(n + 1, I.index)\n"
    )
    adds = [s for s in kernel.body.statements if isinstance(s, Let) and "Cast" in type(s.op).__name__]
    assert len(adds) == 1
    reads = [s for s in kernel.body.statements if isinstance(s, Let) and isinstance(s.op, Read)]
    writes = [s for s in kernel.body.statements if isinstance(s, Write)]
    assert reads[0].op.relation == writes[0].relation  # type: ignore[union-attr]


def test_the_value_is_evaluated_before_the_target() -> None:
    text = shown(in_kernel("o[I.cast(x[1], I.index)] = x[0]").replace("x[1]", "n"))
    assert text.index("read x") < text.index("cast %n")


def test_names_of_the_author_are_kept() -> None:
    kernel = read(in_kernel("value = x[0] * 2.0\nother = value\no[0] = other"))
    assert "value" in kernel.names.values() and "other" not in kernel.names.values()


def test_an_assertion_on_constants() -> None:
    assert statements("assert 2 + 2 == 4, 'sums'\npass\n'a string'") == []
    check_error(in_kernel("assert 1 > 2"), "INT809", "assert 1 > 2")
    check_error(in_kernel("assert x[0] > 0.0"), "INT809", "assert x[0] > 0.0")
    check_error(in_kernel("assert x.shape[0] == 4"), "INT809", "assert x.shape[0] == 4")


@pytest.mark.parametrize(
    ("statement", "marked"),
    [
        ("with x: pass", "with x: pass"),
        ("del n", "del n"),
        ("global n2", "global n2"),
        ("import math", "import math"),
        ("def inner(): pass", "def inner(): pass"),
        ("raise ValueError", "raise ValueError"),
        ("x.shape = 1", "x.shape"),
        ("a, *b = x.shape", "*b"),
        ("a = [1, 2]", "[1, 2]"),
        ("a = {1: 2}", "{1: 2}"),
        ("a = [i for i in x]", "[i for i in x]"),
        ("a = lambda v: v", "lambda v: v"),
        ("a = (b := 1)", "b := 1"),
        ("a = f'{n}'", "f'{n}'"),
        ("a = 1j", "1j"),
        ("a = x @ x", "x @ x"),
        ("for i in range(3): pass\nelse: pass", "pass"),
    ],
)
def test_the_rest_of_python(statement: str, marked: str) -> None:
    check_error(in_kernel(statement), "INT119", marked)


def test_unpacking_that_does_not_fit() -> None:
    check_error(in_kernel("a, b = x.shape"), "INT123", "a, b")
    check_error(in_kernel("a, b = x[0]"), "INT123", "a, b")
    check_error(in_kernel("a = store(o)") + "\n@intent.fn\ndef store(o):\n    o[0] = 1.0\n", "INT125", "store(o)")


def test_a_module_cannot_be_shadowed() -> None:
    check_error(in_kernel("I = x.shape[0]"), "INT124", "I")


def test_unknown_names() -> None:
    assert check_error(in_kernel("value = x[0]\no[0] = valeu"), "INT101", "valeu").help == "did you mean 'value'?"
    help = check_error(in_kernel("o[0] = x[N - 1]"), "INT101", "N").help
    assert help == "a symbol of an annotation binds no name: write N = x.shape[...]"


def test_a_name_read_before_its_assignment_is_not_the_module_s() -> None:
    check_error("TAPS = 4\n" + in_kernel("TAPS = TAPS + 1"), "INT803", "TAPS")


def test_one_error_does_not_cause_others() -> None:
    found = errors(in_kernel("a = undefined\nb = a + 1.0\nfor i in range(3):\n    b = b + a\no[0] = b\no[1] = other"))
    assert [each.message for each in found] == ["nothing here is named 'undefined'", "nothing here is named 'other'"]


def test_a_kernel_with_an_error_is_left_out() -> None:
    from translators.intent_source.read import read_program

    text = (
        "import intent\nimport intent.language as I\n"
        + in_kernel("o[0] = y")
        + in_kernel("o[0] = 1.0").replace("kernel(x", "second(x")
    )
    result = read_program(text, "test.py")
    assert result.program is not None
    assert [kernel.name for kernel in result.program.kernels] == ["second"]
    assert [each.code for each in result.diagnostics] == ["INT101"]
