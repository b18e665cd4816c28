"""`if`, loops and early exits: what they become, and what is wrong with them."""

from __future__ import annotations

import pytest

from tests.reading import check_error, errors, in_kernel, read, shown
from translators.logical.program import For, If, Parallel, Statement, While


def first(body: str, kind: type[Statement]) -> Statement:
    return next(statement for statement in read(in_kernel(body)).body.statements if isinstance(statement, kind))


# ------------------------------------------------------------------------------------------------------------------ if
def test_names_of_both_branches_are_merged() -> None:
    text = shown(in_kernel("if n > 0:\n    v = x[0]\nelse:\n    v = x[1]\no[0] = v"))
    assert "merge %v.1: f32" in text or "merge %v" in text


def test_names_that_nobody_reads_are_not_merged() -> None:
    branch = first("if n > 0:\n    v = x[0]\n    o[0] = v\nelse:\n    v = n\n    o[1] = I.cast(v, I.f32)", If)
    assert isinstance(branch, If) and branch.merges == ()


def test_a_name_of_one_branch() -> None:
    found = check_error(in_kernel("if n > 0:\n    v = x[0]\no[0] = v"), "INT803", "v")
    assert found.message == "'v' is assigned in one branch only"


def test_the_branch_that_continues_defines() -> None:
    assert not errors(in_kernel("if n > 0:\n    v = x[0]\nelse:\n    return\no[0] = v"))


def test_branches_of_different_type() -> None:
    found = errors(in_kernel("if n > 0:\n    v = x[0]\nelse:\n    v = n\no[0] = v"))
    assert [each.code for each in found] == ["INT808"]


def test_domains_cannot_be_chosen_at_run_time() -> None:
    body = "if n > 0:\n    d = I.domain(0, 4)\nelse:\n    d = I.domain(0, 8)\no[d] = 1.0"
    check_error(in_kernel(body), "INT803", "d")


def test_compile_time_branches() -> None:
    text = "@intent.kernel\ndef kernel(o: I.Out[I.f32, ()], fast: I.Constexpr[bool] = True):\n"
    text += "    if fast:\n        o[()] = 1.0\n    else:\n        o[()] = {}\n"
    assert "if" not in shown(text.format("2.0"))
    check_error(text.format("nowhere"), "INT101", "nowhere")


def test_elif_chains() -> None:
    text = shown(in_kernel("if n > 2:\n    o[0] = 1.0\nelif n > 1:\n    o[0] = 2.0\nelse:\n    o[0] = 3.0"))
    assert text.count("if %") == 2 and text.count("else") == 2


def test_a_tensor_is_no_condition() -> None:
    found = errors(in_kernel("if x[:] > 0.0:\n    o[0] = 1.0"))
    assert [each.code for each in found] == ["INT801"]


# --------------------------------------------------------------------------------------------------------------- exits
def test_a_guard_encloses_the_rest() -> None:
    branch = first("if n == 0:\n    return\no[0] = 1.0\no[1] = 2.0", If)
    assert isinstance(branch, If)
    assert branch.then.statements == () and len(branch.orelse.statements) > 2


def test_break_becomes_a_carry() -> None:
    loop = first("for i in range(4):\n    if x[i] > 0.0:\n        break\n    o[i] = 1.0", For)
    assert isinstance(loop, For) and loop.exit == 0 and len(loop.carries) == 1


def test_continue_needs_no_carry() -> None:
    loop = first("for i in range(4):\n    if x[i] > 0.0:\n        continue\n    o[i] = 1.0", For)
    assert isinstance(loop, For) and loop.exit is None and loop.carries == ()


def test_return_leaves_every_loop() -> None:
    text = shown(
        in_kernel(
            "for i in range(4):\n    for j in range(4):\n        if x[j] > 0.0:\n            return\n    o[i] = 1.0"
        )
    )
    assert text.count("leave if") == 2


def test_exits_outside_of_loops() -> None:
    check_error(in_kernel("break"), "INT806", "break")
    check_error(in_kernel("if n > 0:\n    continue"), "INT806", "continue")


# --------------------------------------------------------------------------------------------------------------- loops
def test_carries_are_the_names_that_iterations_hand_on() -> None:
    loop = first("a = x[0]\nb = x[1]\nfor i in range(4):\n    t = x[i]\n    b = t\n    a = a + b\no[0] = a", For)
    assert isinstance(loop, For) and len(loop.carries) == 1


def test_a_temporary_may_change_its_type_between_loops() -> None:
    assert not errors(
        in_kernel(
            "for i in range(4):\n    v = x[i]\n    o[i] = v\nfor i in range(4):\n    v = n\n    o[i] = I.cast(v, I.f32)"
        )
    )


def test_records_and_tuples_are_carried() -> None:
    body = "r = I.record(a=x[0], b=n)\nfor i in range(4):\n    r = I.record(a=r.a + x[i], b=r.b + 1)\no[0] = r.a"
    loop = first(body, For)
    assert isinstance(loop, For) and [carry.result.dtype.name for carry in loop.carries] == ["f32", "i32"]


def test_carries_keep_their_type() -> None:
    found = errors(in_kernel("a = 0\nfor i in range(4):\n    a = i\no[a] = 1.0"))
    assert [each.code for each in found] == ["INT802"]


def test_a_carry_that_began_as_a_literal_is_mended_there() -> None:
    (found,) = errors(in_kernel("a = 0.0\nfor i in range(4):\n    a = a + x[i]\no[0] = a"))
    assert found.help == "'a' began as the literal 0.0, which is f64: write a: I.f32 = 0.0"
    (found,) = errors(in_kernel("a = 0\nfor i in range(4):\n    if x[i] > 0.0:\n        a = i\no[a] = 1.0"))
    assert found.help == "'a' began as the literal 0, which is i64: write a: I.index = 0"


def test_names_of_a_loop_body_end_with_it() -> None:
    check_error(in_kernel("for i in range(4):\n    v = x[i]\no[0] = v"), "INT803", "v")
    check_error(in_kernel("for i in range(4):\n    pass\no[i] = 1.0"), "INT803", "i")


def test_a_domain_is_not_carried() -> None:
    body = "d = I.domain(0, 4)\nfor i in range(4):\n    o[d] = 1.0\n    d = I.domain(0, 3)"
    check_error(in_kernel(body), "INT802", "d = I.domain(0, 3)")


def test_enumerate_counts_from_the_beginning() -> None:
    text = shown(in_kernel("for k, i in enumerate(range(2, 9, 3), 1):\n    o[k] = x[i]"))
    assert "subtract %i" in text and "floor_divide" in text and "= add" in text
    assert "subtract" not in shown(in_kernel("for k, i in enumerate(range(4)):\n    o[k] = x[i]"))


def test_while_tests_before_each_iteration() -> None:
    loop = first("s = n\nwhile s > 0:\n    s = s - 1\no[0] = I.cast(s, I.f32)", While)
    assert isinstance(loop, While) and loop.test.statements and len(loop.carries) == 1
    assert not any(isinstance(s, While) for s in read(in_kernel("while False:\n    o[0] = 1.0")).body.statements)


def test_an_endless_loop_is_left_by_return() -> None:
    helper = "@intent.fn\ndef f(n):\n    while True:\n        n = n - 1\n        if n < 0:\n            return n\n\n"
    assert "leave if" in shown(helper + in_kernel("o[0] = I.cast(f(n), I.f32)"))


@pytest.mark.parametrize("source", ["x", "n", "(1, 2)", "zip(x, o)"])
def test_what_no_loop_can_run_over(source: str) -> None:
    assert len(errors(in_kernel(f"for i in {source}:\n    o[i] = 1.0"))) == 1


# ------------------------------------------------------------------------------------------------------------ parallel
def test_products_and_nests() -> None:
    text = '@intent.kernel\ndef kernel(m: I.InOut[I.f32, ("M", "N")]):\n    M, N = m.shape\n    {}\n'
    product = read(text.format("for r, c in I.parallel((range(M), I.domain(0, N))):\n        m[r, c] = 0.0"))
    loop = product.body.statements[-1]
    assert isinstance(loop, Parallel) and len(loop.variables) == 2
    assert not errors(
        text.format("for r in I.parallel(range(M)):\n        for c in I.parallel(range(N)):\n            m[r, c] = 0.0")
    )


def test_a_parallel_loop_carries_nothing() -> None:
    body = "acc = x[0]\nfor i in I.parallel(range(4)):\n    acc = acc + x[i]\no[0] = acc"
    check_error(in_kernel(body), "INT804", "acc = acc + x[i]")
    assert not errors(in_kernel("v = x[0]\no[0] = v\nfor i in I.parallel(range(4)):\n    v = x[i]\n    o[i] = v"))


def test_exits_of_a_parallel_loop() -> None:
    loop = "for i in I.parallel(range(4)):\n    if x[i] > 0.0:\n        {}\n    o[i] = 1.0"
    check_error(in_kernel(loop.format("break")), "INT805", "break")
    check_error(in_kernel(loop.format("return")), "INT807", "return")
    assert not errors(in_kernel(loop.format("continue")))


def test_a_break_of_a_loop_inside_is_its_own() -> None:
    body = "for i in I.parallel(range(4)):\n    for j in range(4):\n        if x[j] > 0.0: break\n    o[i] = 1.0"
    assert not errors(in_kernel(body))


def test_parallel_takes_one_argument() -> None:
    check_error(
        in_kernel("for i, j in I.parallel(range(4), range(4)):\n    o[i] = 1.0"),
        "INT108",
        "I.parallel(range(4), range(4))",
    )
