"""Which function, or the file, a name in host code belongs to: Python's rules of scope, from the syntax tree alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from intent.records import dataclass
from translators.syntax_tree import children, descendants

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The names that a function or comprehension has of its own."""

    node: Function | Comprehension
    names: frozenset[str]
    outer: Region | None

    def find(self, name: str) -> Region | None:
        """The region that the name belongs to when it is used in this one; None for the file."""
        region: Region | None = self
        while region is not None and name not in region.names:
            region = region.outer
        return region


@dataclass(frozen=True, slots=True)
class Names:
    """Every name in a tree, with the region it belongs to (None: the file), and every node's parent."""

    regions: dict[ast.Name, Region | None]
    functions: dict[Function, Region]
    parents: dict[ast.AST, ast.AST]

    def of(self, region: Region | None, name: str) -> list[ast.Name]:
        """The places of one name."""
        return [node for node, found in self.regions.items() if node.id == name and found is region]


def names_of(tree: ast.AST) -> Names:
    names = Names({}, {}, {})
    for node in descendants(tree):
        for child in children(node):
            names.parents[child] = node
    _visit(tree, None, names)
    return names


def _visit(node: ast.AST, region: Region | None, names: Names) -> None:
    match node:
        case ast.Name(id=name):
            names.regions[node] = region.find(name) if region is not None else None
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            inner = names.functions[node] = Region(node, own_names(node), region)
            inside = [node.body] if isinstance(node, ast.Lambda) else node.body
            _visit_all([child for child in _outside(node) if child not in inside], region, names)
            _visit_all(inside, inner, names)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            first = node.generators[0].iter
            targets = [generator.target for generator in node.generators]
            inner = Region(node, frozenset(_stored(targets)), region)
            _visit(first, region, names)
            _visit_all([child for child in _parts(node) if child is not first], inner, names)
        case _:
            _visit_all(children(node), region, names)


def _visit_all(nodes: Iterable[ast.AST], region: Region | None, names: Names) -> None:
    for node in nodes:
        _visit(node, region, names)


def _outside(function: Function) -> Iterator[ast.AST]:
    """What is evaluated where the function is defined: decorators, defaults, annotations."""
    yield from children(function)


def _parts(comprehension: Comprehension) -> Iterator[ast.AST]:
    """Everything that is evaluated in a comprehension, its first source included."""
    for child in children(comprehension):
        if isinstance(child, ast.comprehension):
            yield from children(child)
        else:
            yield child


def own_names(function: Function) -> frozenset[str]:
    """Parameters, and what the body binds."""
    arguments = [argument.arg for argument in descendants(function.args) if isinstance(argument, ast.arg)]
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    everywhere = [name for node in _within(body) if isinstance(node, ast.Global) for name in node.names]
    nonlocal_ = [name for node in _within(body) if isinstance(node, ast.Nonlocal) for name in node.names]
    return frozenset([*arguments, *_stored(body)]) - frozenset([*everywhere, *nonlocal_])


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in _within(nodes):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case _:
                pass


def _within(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and what is below them, without the insides of functions, classes and comprehensions."""
    for node in nodes:
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                pass
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                # What `:=` binds in a comprehension belongs to the function around it.
                yield from (each.target for each in descendants(node) if isinstance(each, ast.NamedExpr))
            case _:
                yield from _within(children(node))
