"""Signatures: annotations, shapes, constraints, constexprs."""

from __future__ import annotations

import enum

import pytest

from tests.reading import check_error, errors, read
from translators.algebra.polynomial import number, symbol
from translators.logical.program import ScalarParameter
from translators.logical.types import View


def with_parameter(parameter: str, before: str = "") -> str:
    return f"{before}\n@intent.kernel\ndef kernel({parameter}):\n    pass\n"


def test_views_scalars_and_symbols() -> None:
    kernel = read(with_parameter('x: I.In[I.f16, ("M", 2 * WIDTH, 3)], o: I.Out[I.f32, ()], n: I.index', "WIDTH = 4"))
    x, o, n = kernel.parameters
    assert isinstance(x, View) and isinstance(o, View)
    assert x.shape == (symbol("M"), number(8), number(3))
    assert (x.direction, o.direction, o.shape) == ("In", "Out", ())
    assert isinstance(n, ScalarParameter) and n.dtype.name == "index"


def test_module_constants_in_annotations() -> None:
    before = (
        'ROWS = I.constraints(strides=(None, 1), noalias=True)\nSHAPE = ("M", "N")\nVIEW = I.In[I.f32, SHAPE, ROWS]\n'
    )
    (x,) = read(with_parameter("x: VIEW", before)).views
    assert (x.strides, x.noalias, x.rank) == ((None, 1), True, 2)


def test_alias_groups() -> None:
    kernel = read(with_parameter('x: I.InOut[I.f32, ("M",), I.constraints(alias="g")]'))
    assert kernel.views[0].alias == "g"


@pytest.mark.parametrize(
    ("parameter", "code", "marked"),
    [
        ("x", "INT110", "x"),
        ("x: float", "INT110", "float"),
        ("x: 'I.f32'", "INT110", "'I.f32'"),
        ('x: I.In[I.f32, "N"]', "INT111", '"N"'),
        ("x: I.In[I.f32, 4]", "INT111", "4"),
        ('x: I.In[I.f32, ("1",)]', "INT111", '"1"'),
        ("x: I.In[I.f32, (-1,)]", "INT111", "-1"),
        ('x: I.In[I.f32, ("for",)]', "INT111", '"for"'),
        ("x: I.In[I.f32]", "INT111", "I.In[I.f32]"),
        ('x: I.In["float32", ("N",)]', "INT206", '"float32"'),
        ('x: I.In[I.float32, ("N",)]', "INT102", "I.float32"),
        (
            'x: I.In[I.f32, ("N",), I.constraints(alias="a", noalias=True)]',
            "INT112",
            'I.constraints(alias="a", noalias=True)',
        ),
        ('x: I.In[I.f32, ("N",), I.constraints(strides=(1, 1))]', "INT112", "I.constraints(strides=(1, 1))"),
        ("n: I.i32 = 3", "INT121", "3"),
        ("*x: I.f32", "INT103", "x: I.f32"),
        ("c: I.Constexpr[I.i32] = 3", "INT114", "I.Constexpr[I.i32]"),
        ("c: I.Constexpr[int] = 0.5", "INT114", "0.5"),
        ("c: I.Constexpr[int]", "INT113", "c: I.Constexpr[int]"),
        ("I: I.i32", "INT124", "I: I.i32"),
    ],
)
def test_wrong_parameters(parameter: str, code: str, marked: str) -> None:
    check_error(with_parameter(parameter), code, marked)


def test_a_dtype_spelled_as_elsewhere_gets_a_hint() -> None:
    found = errors(with_parameter('x: I.In[I.float32, ("N",)]'))
    assert found[0].help == "did you mean 'I.f32'?"


CHOICE = "class Mode(I.Enum):\n    FAST = 0\n    EXACT = 1\n"


def test_constexprs_are_bound_by_name_or_by_kernel() -> None:
    text = with_parameter(
        "a: I.Constexpr[int], b: I.Constexpr[bool], m: I.Constexpr[Mode], f: I.Constexpr[float] = 2", CHOICE
    )
    kernel = read(text, {"a": 12, "kernel.b": True, "m": "Mode.EXACT"})
    assert [(constant.name, constant.value) for constant in kernel.constants] == [
        ("a", 12), ("b", True), ("m", "EXACT"), ("f", 2.0)
    ]  # fmt: skip
    assert kernel.parameters == ()


def test_an_enum_member_of_the_host_binds_by_name() -> None:
    mode = enum.Enum("Mode", {"FAST": 0, "EXACT": 1})
    kernel = read(with_parameter("m: I.Constexpr[Mode]", CHOICE), {"m": mode["EXACT"]})
    assert kernel.constants[0].value == "EXACT"


@pytest.mark.parametrize("value", ["3", True, 2.0, 10**400, float("inf"), None])
def test_a_constexpr_has_the_type_of_its_annotation(value: object) -> None:
    kind = "bool" if value == 10**400 else "int"
    found = errors(with_parameter(f"c: I.Constexpr[{kind}]"), {"c": value})
    assert [each.code for each in found] == ["INT113" if value is None else "INT114"]
    found = errors(with_parameter("c: I.Constexpr[float]"), {"c": 10**400})
    assert [each.code for each in found] == ["INT114"]


@pytest.mark.parametrize("member", ["Other.EXACT", "Mode.OTHER", "EXACT.", enum.Enum("Other", {"EXACT": 1})["EXACT"]])
def test_a_member_of_another_enum_is_none_of_this(member: object) -> None:
    found = errors(with_parameter("m: I.Constexpr[Mode]", CHOICE), {"m": member})
    assert [(each.code, each.help) for each in found] == [("INT114", "one of FAST, EXACT")]


def test_a_missing_constexpr_names_the_flag() -> None:
    found = errors(with_parameter("c: I.Constexpr[int]"))
    assert found[0].help == "give one: --constexpr kernel.c=VALUE"


def test_an_unknown_constexpr_is_an_error() -> None:
    found = errors(with_parameter("width: I.Constexpr[int]"), {"width": 3, "widht": 3})
    assert [each.code for each in found] == ["INT115"]
    assert found[0].help == "did you mean 'width'?"


def test_kernels_return_nothing() -> None:
    check_error("@intent.kernel\ndef kernel(n: I.i32) -> I.i32:\n    pass\n", "INT104", "I.i32")
    check_error("@intent.kernel\ndef kernel(n: I.i32):\n    return n\n", "INT104", "return n")
    assert read("@intent.kernel\ndef kernel(n: I.i32) -> None:\n    return None\n").name == "kernel"


def test_decorators() -> None:
    check_error("@intent.kernel()\ndef kernel(n: I.i32):\n    pass\n", "INT103", "intent.kernel()")
    check_error("@intent.kernel\n@intent.fn\ndef kernel(n: I.i32):\n    pass\n", "INT103", "intent.fn")


def test_two_parameters_of_one_name() -> None:
    check_error(with_parameter("n: I.i32, n: I.i64"), "INT116", "n: I.i64")


def test_async_kernels() -> None:
    found = errors("@intent.kernel\nasync def kernel(n: I.i32):\n    pass\n")
    assert [each.code for each in found] == ["INT103"]


def test_two_definitions_of_one_name() -> None:
    text = "@intent.kernel\ndef kernel(n: I.i32):\n    pass\n\n@intent.kernel\ndef kernel(n: I.i32):\n    pass\n"
    check_error(text, "INT116", "def kernel(n: I.i32):")


def test_every_wrong_parameter_is_reported() -> None:
    found = errors(with_parameter('a, b: float, c: I.In[I.f32, "N"]'))
    assert [each.code for each in found] == ["INT110", "INT110", "INT111"]
