"""What names mean where they stand, for editors: nearly every name of every sample is known and leads somewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from command_line import ROOT

from intentc.serving.definitions import links
from translators.intent_source.read.names import BUILTINS
from translators.intent_source.read.observation import observe

SAMPLES = sorted((ROOT / "samples").glob("*.py"))[::5]


def _names(text: str) -> Iterator[ast.Name]:
    """The names in the bodies of kernels."""
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef) and "intent.kernel" in map(ast.unparse, function.decorator_list):
            for statement in function.body:
                yield from (node for node in ast.walk(statement) if isinstance(node, ast.Name))


def test_every_name_of_a_kernel_is_known() -> None:
    total, unknown = 0, []
    for path in SAMPLES:
        text = path.read_text(encoding="utf-8")
        found = {(each.span.line, each.span.column) for each in observe(text, path.name)}
        names = list(_names(text))
        total += len(names)
        unknown += [name.id for name in names if (name.lineno, name.col_offset + 1) not in found]
    assert total > 900 and len(unknown) <= 0.01 * total, unknown  # what compile-time values leave out is not read


def test_every_name_of_a_kernel_leads_to_where_it_is_bound() -> None:
    for path in SAMPLES:
        text = path.read_text(encoding="utf-8")
        used = {(each.used.lineno, each.used.col_offset): each for each in links(text, str(path))}
        for name in _names(text):
            if isinstance(name.ctx, ast.Load) and name.id not in BUILTINS:
                link = used[name.lineno, name.col_offset]
                line = text.split("\n")[link.line - 1]
                assert line.encode()[link.column :].decode().startswith(link.name), (path, name.id, line)


def _described(body: str) -> dict[str, list[str]]:
    """What each name of a kernel is, each time that it stands somewhere."""
    text = f"""\
import intent
import intent.language as I


@intent.fn
def both(value):
    again = value + value
    return I.record(one=value, two=again)


@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], at: I.In[I.i32, ("N",)], n: I.i32, y: I.Out[I.f32, ("M", "N")]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
{body}
"""
    found: dict[str, list[str]] = {}
    for each in observe(text, "k.py"):
        found.setdefault(each.name, []).append(f"{each.described} from {', '.join(each.sources)}")
    return found


def test_kinds_dtypes_shapes_and_sources() -> None:
    found = _described("""\
    v = x[rows, columns]
    w = I.reduce.max(v, axis=1)
    total = I.buffer((4, 8), I.f64)
    part = columns[2 : x.shape[0]]
    pair = both(v)
    count = 0
    for i in range(n):
        count += i
    taken = I.gather(x, (rows, at[columns]))
    y[rows, columns] = v
""")
    assert found["v"][0] == "f32 tensor [M, N] from x"
    assert found["w"][0] == "f32 tensor [M] from x"
    assert found["total"][0] == "buffer, f64 [4, 8] from "
    assert found["part"][0] == "subregion of columns [2, M) from "
    assert found["pair"][0] == "one: f32 tensor [M, N], two: f32 tensor [M, N] from "
    assert found["again"][0] == "f32 tensor [M, N] from x"
    assert found["at"][0] == "In view, i32 [N] from " and found["y"][0] == "Out view, f32 [M, N] from "
    assert found["n"][0] == "i32 scalar from n"
    assert found["taken"][0].startswith("f32 tensor [M, N]") and "at" in found["taken"][0]
    assert found["shape"][0] == "shape [M, N] from "


def test_what_an_error_leaves_is_known() -> None:
    found = _described("""\
    v = x[rows, columns]
    w = v + I.expp(v)
    y[rows, columns] = v
""")
    assert found["v"] == ["f32 tensor [M, N] from x"] * 3


@pytest.mark.parametrize("text", ["", "(", "\0", "import intent", "@intent.kernel\ndef k(): pass"])
def test_texts_without_kernels_have_nothing(text: str) -> None:
    assert observe(text, "k.py") == []
    assert all(link.path is None for link in links(text, "k.py"))
