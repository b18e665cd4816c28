"""Which lines of a device function come from which lines of the author's files.

The writer knows it for every statement that computes. Statements that only serve others, such as coordinates, masks and
pointers, belong to the lines that give their axis its name and to those of the statements that use them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from intent.records import dataclass
from intentc.viewer.code import bindings
from translators.triton_source.launch import Variant


@dataclass(frozen=True, slots=True)
class Links:
    """By line of the device function, counted from 1: files of the author and lines in them. `loose` are the lines that
    only serve.
    """

    sources: Mapping[int, tuple[tuple[str, int], ...]]
    loose: frozenset[int]


def links(variant: Variant, files: Mapping[str, str], kernel: str) -> Links:
    """`files` has the texts of the author's files by their paths; the first one is that of the kernel."""
    own = {number: {each for each in found if each[0] in files} for number, found in enumerate(variant.origins, 1)}
    path, text = next(iter(files.items()))
    axes = {name: (path, line) for name, line in _axis_lines(variant, bindings(text, kernel)).items()}
    served: dict[str, set[tuple[str, int]]] = {}  # by name: the author's lines of the statements below that read it
    loose: set[int] = set()
    for statement in reversed(list(_statements(variant.source))):
        found = set().union(*(own[number] for number in statement.lines))
        if not found:
            loose.update(statement.lines)
            found = set().union(*(served.get(name, ()) for name in statement.assigns))
            found |= {axes[name] for name in statement.assigns if name in axes}
        for number in statement.lines:
            own[number] = found
        for name in statement.reads:
            served.setdefault(name, set()).update(found)
    sources = {number: tuple(sorted(each)) for number, each in own.items() if each}
    return Links(sources, frozenset(loose & sources.keys()))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A simple statement, or the header of a compound one."""

    lines: range
    reads: frozenset[str]
    assigns: frozenset[str]


def _statements(source: str) -> Iterator[_Statement]:
    """Those of the function's body, from top to bottom."""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    for node in sorted(found, key=lambda node: node.lineno):
        body = getattr(node, "body", None)
        end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        names = [each for each in _own_nodes(node) if isinstance(each, ast.Name)]
        assigns = frozenset(each.id for each in names if isinstance(each.ctx, ast.Store))
        reads = frozenset(each.id for each in names if isinstance(each.ctx, ast.Load))
        yield _Statement(range(node.lineno, max(end, node.lineno) + 1), reads, assigns)


def _own_nodes(node: ast.stmt) -> Iterator[ast.AST]:
    """Everything in a statement but the statements in its blocks."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt):
            yield from ast.walk(child)


def _axis_lines(variant: Variant, bound: Mapping[str, int]) -> dict[str, int]:
    """By the names of an axis' coordinates, mask and first coordinate: the line of the author's domain or loop."""
    found: dict[str, int] = {}
    for section in variant.tiles.sections if variant.tiles is not None else ():
        for axis, form in section.forms.items():
            line = bound.get(axis.name, bound.get(form.name))
            if line is not None:
                found |= {name: line for name in (form.name, form.mask, form.first) if name}
    return found
