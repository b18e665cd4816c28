"""Where the names of a file are defined, by its syntax alone: also of a program that is not finished yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from intent.records import dataclass
from translators.diagnostics import Rejected
from translators.intent_source.read.files import find
from translators.intent_source.read.source import parse

Place = tuple[int, int]  # line and column, counted as the parser does: from 1, and from 0 in bytes
Definition = ast.arg | ast.Name | ast.FunctionDef | ast.ClassDef | ast.alias
Definitions = dict[str, list[Definition]]


@dataclass(frozen=True, slots=True)
class Link:
    """A name where it is used, and where it is defined; `path` is another file's, or None for this one."""

    used: ast.Name | ast.Attribute
    path: str | None
    lines: tuple[str, ...]  # of the file that defines it
    line: int
    column: int
    name: str


def links(text: str, path: str) -> list[Link]:
    """Every name of the text that is defined in it, or in a file that it imports. Empty for what is no Python."""
    file = _read(text, path)
    if file is None:
        return []
    found = list(file.links(file.tree, {}))
    for function in (each for each in ast.walk(file.tree) if isinstance(each, ast.FunctionDef)):
        found.extend(file.links(function, _local(function)))
    return found


def _read(text: str, path: str) -> _File | None:
    try:
        source = parse(text, path)
    except Rejected:
        return None
    statements = source.tree.body
    imports = {alias: each for each in statements if isinstance(each, ast.ImportFrom) for alias in each.names}
    return _File(Path(path), source.lines, source.tree, _bindings(statements), imports)


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    lines: tuple[str, ...]
    tree: ast.Module
    names: Definitions
    imports: dict[ast.alias, ast.ImportFrom]

    def links(self, block: ast.Module | ast.FunctionDef, local: Definitions) -> Iterator[Link]:
        """The names that the block itself uses."""
        for node in _own(block):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    definition = _before(local.get(name) or self.names.get(name) or [], node)
                    if definition is not None:
                        yield self.link(node, definition)
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner not in local:
                    definition = _before(self.names.get(owner, []), node)
                    members = _bindings(definition.body).get(name) if isinstance(definition, ast.ClassDef) else None
                    if members:
                        yield self.link(node, members[0])

    def link(self, used: ast.Name | ast.Attribute, definition: Definition) -> Link:
        if isinstance(definition, ast.alias) and (found := self._elsewhere(used, definition)) is not None:
            return found
        return Link(used, None, self.lines, *_named(definition))

    def _elsewhere(self, used: ast.Name | ast.Attribute, alias: ast.alias) -> Link | None:
        """Where the file that is imported from defines the name."""
        statement = self.imports.get(alias)
        if statement is None or not statement.module:
            return None
        path = find(self.path, statement.module, statement.level)
        try:
            file = None if path is None else _read(path.read_text(encoding="utf-8-sig"), str(path))
        except (OSError, UnicodeDecodeError):
            return None
        if file is None or alias.name not in file.names:
            return None
        return Link(used, str(path), file.lines, *_named(file.names[alias.name][0]))


def _own(block: ast.Module | ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of the block without those of functions inside, which have names of their own; their annotations and
    decorators belong to the block."""
    pending: list[ast.AST] = list(block.body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.FunctionDef):
            pending += [*node.decorator_list, *filter(None, [node.returns])]
            pending += [
                each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg) and each.annotation
            ]
            pending += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            pending.extend(ast.iter_child_nodes(node))


def _local(function: ast.FunctionDef) -> Definitions:
    found: Definitions = {}
    for parameter in (each for each in ast.walk(function.args) if isinstance(each, ast.arg)):
        found.setdefault(parameter.arg, []).append(parameter)
    for name, definitions in _bindings(function.body).items():
        found.setdefault(name, []).extend(definitions)
    return found


def _bindings(body: list[ast.stmt]) -> Definitions:
    """What the statements bind, each name's bindings in the order of the text."""
    found: Definitions = {}
    for node in _own(ast.Module(body, [])):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.setdefault(name, []).append(node)
            case ast.alias(name=name, asname=asname):
                found.setdefault(asname or name.partition(".")[0], []).append(node)
            case _:
                pass
    return {name: sorted(definitions, key=_start) for name, definitions in found.items()}


def _start(node: Definition | ast.Name | ast.Attribute) -> Place:
    return node.lineno, node.col_offset


def _before(definitions: list[Definition], used: ast.Name | ast.Attribute | None) -> Definition | None:
    """The last one above the use, which is the one that counts except in loops; else the first."""
    above = [each for each in definitions if used is not None and _start(each) < _start(used)]
    # `v = v + 1` binds after it reads
    while len(above) > 1 and used is not None and above[-1].lineno == used.lineno:
        above.pop()
    return above[-1] if above else next(iter(definitions), None)


def _named(definition: Definition) -> tuple[int, int, str]:
    """Line, column and text of the name in its definition."""
    match definition:
        case ast.FunctionDef(name=name):
            return definition.lineno, definition.col_offset + len("def "), name
        case ast.ClassDef(name=name):
            return definition.lineno, definition.col_offset + len("class "), name
        case ast.arg(arg=name) | ast.Name(id=name) | ast.alias(name=name):
            return definition.lineno, definition.col_offset, name
