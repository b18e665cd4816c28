"""Names, constants, choices and calls in expressions."""

from __future__ import annotations

import pytest

from tests.reading import check_error, errors, in_kernel, read, shown
from translators.logical.program import If


def ifs(body: str, before: str = "") -> int:
    return sum(isinstance(statement, If) for statement in read(before + in_kernel(body)).body.statements)


# -------------------------------------------------------------------------------------------------------- module names
def test_module_constants_are_literals() -> None:
    before = "import math\nTAPS = 2 * 3\nSCALE = 1 / math.sqrt(4)\nPAIR = (5, 7.5)\nTOP = -I.inf\nBIG = max(3, TAPS)\n"
    text = shown(before + in_kernel("o[TAPS] = x[BIG] * SCALE\no[PAIR[0]] = PAIR[1]\no[0] = TOP"))
    assert all(part in text for part in ("index = 6", "f32 = 0.5", "index = 5", "f32 = 7.5", "f32 = -inf"))


def test_other_spellings_of_the_imports() -> None:
    text = "from intent import kernel, language as L\nfrom intent.language import f32, In, Out as Result\n"
    text += '@kernel\ndef k(x: In[f32, ("N",)], o: Result[L.f32, ("N",)]):\n    o[:] = L.exp(x[:])\n'
    assert "exp" in shown(text)


def test_a_module_name_without_a_constant() -> None:
    check_error("TABLE = make()\n" + in_kernel("o[0] = TABLE"), "INT117", "TABLE")
    check_error("if n0:\n    TOP = 3\n" + in_kernel("o[0] = TOP"), "INT117", "TOP")


def test_arithmetic_of_constants() -> None:
    found = errors("ZERO = 1 // 0\n" + in_kernel("o[0] = ZERO"))
    assert [each.code for each in found] == ["INT117"] and "division" in found[0].message
    assert not errors("HUGE = 10 ** 10 ** 10\n" + in_kernel("o[0] = 1.0"))


def test_names_that_are_no_values() -> None:
    check_error(in_kernel("o[0] = I"), "INT125", "I")
    check_error("import torch\n" + in_kernel("o[0] = torch.pi"), "INT118", "torch")
    assert check_error(in_kernel("o[0] = I.exq(x[0])"), "INT102", "I.exq").help == "did you mean 'I.exp'?"
    check_error(in_kernel("f = I.kernel"), "INT102", "I.kernel")


ENUM = "class Mode(I.Enum):\n    FAST = 1\n    EXACT = 2\n"


def test_enum_members() -> None:
    assert "f32 = 2.0" in shown(ENUM + in_kernel("m = Mode.EXACT\no[0] = 2.0 if m == Mode.EXACT else 1.0"))
    assert "f32 = 3.0" in shown(
        ENUM + in_kernel("o[0] = 3.0 if Mode.FAST in (Mode.FAST,) and Mode.FAST != Mode.EXACT else 1.0")
    )
    assert check_error(ENUM + in_kernel("m = Mode.FAS"), "INT101", "Mode.FAS").help == "did you mean 'Mode.FAST'?"


# ------------------------------------------------------------------------------------------------------------- choices
def test_and_reads_its_second_operand_only_where_python_would() -> None:
    text = shown(in_kernel("if n > 0 and x[1] > 0.0:\n    o[0] = 1.0"))
    assert text.index("if %") < text.index("read x")
    assert "merge" in text


def test_and_without_reads_needs_no_branch() -> None:
    text = shown(in_kernel("if n > 0 and n < 7 or not n != 9:\n    o[0] = 1.0"))
    assert "= and %" in text and "= or %" in text and "merge" not in text


def test_division_is_not_moved_before_its_condition() -> None:
    text = shown(in_kernel("if n != 0 and 7 // n > 1:\n    o[0] = 1.0"))
    assert text.index("if %") < text.index("floor_divide")


def test_constants_decide_and_and_or() -> None:
    assert ifs("if False and x[0] > 0.0:\n    o[0] = 1.0") == 0
    assert "read x" not in shown(in_kernel("if True or x[0] > 0.0:\n    o[0] = 1.0"))


def test_chained_comparison_reads_the_middle_once() -> None:
    text = shown(in_kernel("if 0.0 <= x[0] < 1.0:\n    o[0] = 1.0"))
    assert text.count("read x") == 1 and "less_equal" in text and "= less " in text


def test_conditional_expressions() -> None:
    scalar = shown(in_kernel("o[0] = x[0] if n > 0 else x[1]"))
    assert scalar.count("read x") == 2 and "merge" in scalar
    assert "select" in shown(in_kernel("v = x[:]\no[:] = v if v > 0.0 else 0.0"))
    assert "merge" not in shown(in_kernel("o[0] = x[0] if 1 < 2 else x[1]"))


def test_both_literal_branches_make_a_runtime_value() -> None:
    found = errors(in_kernel("o[0] = 1.0 if n > 0 else -1.0"))
    assert len(found) == 1 and "f64" in found[0].message


def test_the_untaken_side_is_checked_for_names() -> None:
    check_error(in_kernel("o[0] = x[0] if 1 < 2 else nowhere"), "INT101", "nowhere")


def test_is_and_in_are_for_compile_time_values() -> None:
    check_error(in_kernel("o[0] = 1.0 if n is x else 2.0"), "INT119", "n is x")


# --------------------------------------------------------------------------------------------------------------- calls
HELPER = "@intent.fn\ndef blend(a, b, weight=0.5, *, bias=0.0):\n    return a * weight + b + bias\n\n"


def test_helpers_take_arguments_as_python_does() -> None:
    text = shown(HELPER + in_kernel("o[0] = blend(x[0], b=x[1], bias=2.0)"))
    assert "f32 = 0.5" in text and "f32 = 2.0" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("blend(x[0])", "'blend' misses its argument 'b'"),
        ("blend(x[0], x[1], 1.0, 2.0)", "'blend' takes 3 positional arguments and 4 are given"),
        ("blend(x[0], x[1], wieght=1.0)", "'blend' has no parameter 'wieght'"),
        ("blend(x[0], x[1], b=x[1])", "'blend' is given 'b' twice"),
    ],
)
def test_calls_that_do_not_fit(call: str, message: str) -> None:
    assert check_error(HELPER + in_kernel(f"o[0] = {call}"), "INT108", call).message == message


def test_arguments_are_evaluated_once_in_source_order() -> None:
    text = shown(HELPER + in_kernel("o[0] = blend(b=x[1], a=x[2])"))
    assert text.count("read x") == 2
    assert text.index("index = 1") < text.index("index = 2")


def test_helper_annotations_give_literals_their_dtype() -> None:
    text = shown(
        "@intent.fn\ndef twice(v: I.f64):\n    return v * 2.0\n\n" + in_kernel("o[0] = I.cast(twice(1.0), I.f32)")
    )
    assert "%v: f64 = 1.0" in text
    text = "@intent.fn\ndef pick(v, k: I.Constexpr[int]):\n    return v[k]\n\n"
    check_error(text + in_kernel("o[0] = pick(x, n)"), "INT117", "pick(x, n)")


def test_helpers_may_return_nothing_products_and_domains() -> None:
    helper = (
        "@intent.fn\ndef span(v):\n    rows = I.domain(0, v.shape[0])\n    return rows, I.record(a=v[0], b=v[rows])\n\n"
    )
    text = shown(helper + in_kernel("rows, r = span(x)\no[rows] = r.b + r.a"))
    assert "add %r_b, %r_a" in text


def test_recursion_and_calls_of_kernels() -> None:
    helpers = "@intent.fn\ndef f(v):\n    return g(v)\n\n@intent.fn\ndef g(v):\n    return f(v)\n\n"
    found = check_error(helpers + in_kernel("o[0] = f(x[0])"), "INT105", "f(v)")
    assert found.message == "'f' calls itself: f -> g -> f"
    check_error(in_kernel("kernel(x, n, o)"), "INT106", "kernel(x, n, o)")


def test_a_helper_does_not_see_the_names_of_its_caller() -> None:
    helper = "@intent.fn\ndef f(v):\n    return v * factor\n\n"
    found = check_error(helper + in_kernel("factor = x[1]\no[0] = f(x[0])"), "INT107", "factor")
    assert found.message == "'factor' is a name of 'kernel', which 'f' does not see"
    assert found.help == "pass it as an argument"
    inner = "@intent.fn\ndef g(v):\n    factor = v\n    return f(v)\n\n"
    found = check_error(helper + inner + in_kernel("o[0] = g(x[0])"), "INT107", "factor")
    assert found.message == "'factor' is a name of 'g', which 'f' does not see"


def test_an_error_in_a_helper_is_reported_once() -> None:
    helper = "@intent.fn\ndef f(v):\n    return v + nothing\n\n"
    check_error(helper + in_kernel("o[0] = f(x[0])\no[1] = f(x[1])"), "INT101", "nothing")


def test_returns_of_different_schema() -> None:
    helper = "@intent.fn\ndef f(v, n):\n    if n > 0:\n        return v\n\n"
    check_error(helper + in_kernel("o[0] = f(x[0], n)"), "INT109", "def f(v, n):")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("abs(x[0])", "INT122"),
        ("plain(x[0])", "INT122"),
        ("I.f32(x[0])", "INT122"),
        ("x.sum()", None),  # the rules' own code for members of values
        ("n()", "INT122"),
        ("math.sqrt(x[0])", "INT122"),
        ("float(x[0])", "INT122"),
        ("I.parallel(x)", "INT119"),
    ],
)
def test_what_cannot_be_called(call: str, code: str | None) -> None:
    found = errors("import math\n\ndef plain(v):\n    return v\n\n" + in_kernel(f"o[0] = {call}"))
    assert len(found) == 1
    assert code in (None, found[0].code)


def test_builtins_on_constants() -> None:
    text = shown(in_kernel("o[min(3, 4)] = x[len(x.shape)]\no[int(7.9)] = 1.0"))
    assert "index = 3" in text and "index = 1" in text and "index = 7" in text


def test_pure_helpers_cannot_write() -> None:
    helper = "@intent.fn\ndef add(a, b, o):\n    o[0] = a\n    return a + b\n\n"
    found = errors(
        helper + in_kernel("o[1] = I.reduce(x[:], axis=0, identity=0.0, combine=add, combine_operands=(o,))")
    )
    assert found
