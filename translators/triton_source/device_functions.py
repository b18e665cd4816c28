"""The device functions that a generated module carries along when it uses them: their text and what they call.

They live as ordinary, directly testable Triton source in `device/`; this module reads that text and imports none of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class Helper:
    """One top-level definition: its text, decorator included, and the helpers it refers to."""

    name: str
    source: str
    dependencies: frozenset[str]


def _name(statement: ast.stmt) -> str | None:
    """The name a top-level function or constant defines."""
    match statement:
        case ast.FunctionDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _text(statement: ast.stmt, lines: list[str]) -> str:
    decorators = statement.decorator_list if isinstance(statement, ast.FunctionDef) else []
    first = min([statement.lineno] + [decorator.lineno for decorator in decorators])
    return "\n".join(lines[first - 1 : statement.end_lineno])


def _definitions() -> dict[str, tuple[ast.stmt, str]]:
    found: dict[str, tuple[ast.stmt, str]] = {}
    for path in sorted((Path(__file__).parent / "device").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for statement in ast.parse(text).body:
            name = _name(statement)
            if name is not None:
                found[name] = (statement, _text(statement, lines))
    return found


def _load() -> Mapping[str, Helper]:
    definitions = _definitions()
    helpers = {}
    for name, (statement, source) in definitions.items():
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        helpers[name] = Helper(name, source, frozenset(used & definitions.keys() - {name}))
    return MappingProxyType(helpers)


HELPERS: Mapping[str, Helper] = _load()


def with_dependencies(names: Iterable[str]) -> dict[str, str]:
    """Name -> text of these helpers and of all they need, each after what it depends on; the order is deterministic."""
    ordered: dict[str, str] = {}

    def add(name: str) -> None:
        if name in ordered:
            return
        for dependency in sorted(HELPERS[name].dependencies):
            add(dependency)
        ordered[name] = HELPERS[name].source

    for name in sorted(names):
        add(name)
    return ordered
