"""What becomes of a function or constant that can be carried over: its text, and how it is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from intent.records import dataclass, replace
from translators.intent_source.host.carrying import BUILD, Carrier, blocks, name_edit
from translators.intent_source.host.compiled import NotCarried
from translators.intent_source.host.editing import Edit
from translators.intent_source.host.results import Results
from translators.intent_source.read.liveness import bound
from translators.logical.composition import Defined, Definition, Parameter, ParameterKind, Text


@dataclass(frozen=True, slots=True)
class Carried:
    """A statement that can be carried over. `callable` is the function it defines, or that `build` returns."""

    definition: Definition
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    kernels: tuple[str, ...]
    callable: ast.FunctionDef | ast.Lambda | None = None
    built: bool = False
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class _Result:
    """The function that is called in the end, if it can be seen, and whether it needs nothing else of `build`."""

    function: ast.FunctionDef | ast.Lambda | None
    alone: bool


def constant(carrier: Carrier, statement: ast.Assign | ast.AnnAssign) -> Carried:
    document = carrier.file.document
    assert statement.end_lineno is not None
    first = document.comments_above(statement.lineno, 0)
    text = document.block(first, statement.end_lineno, 0, carrier.edits)
    return _carried(carrier, Definition(tuple(sorted(bound((statement,)))), text, False))


def function(carrier: Carrier, name: str, node: ast.FunctionDef | ast.Lambda, results: Results) -> Carried:
    """A plain function is carried over whole; of `build`, what it returns if that stands alone."""
    if isinstance(node, ast.Lambda):
        result, definition, built = _Result(node, alone=True), _of_lambda(carrier, name, node), False
    elif node.name != BUILD:
        result, definition, built = _Result(node, alone=True), _whole(carrier, node), False
    else:
        result = _returned(carrier, node)
        definition, built = _of_build(carrier, node, result), not result.alone
    found = result.function
    return replace(
        _carried(carrier, definition),
        callable=found,
        built=built,
        parameters=_parameters(carrier, found.args) if found is not None else _ANY,
        outputs=results.of(found) if found is not None else None,
    )


def _carried(carrier: Carrier, definition: Definition) -> Carried:
    return Carried(definition, tuple(carrier.needs), tuple(carrier.imports), tuple(carrier.kernels))


def _of_build(carrier: Carrier, node: ast.FunctionDef, result: _Result) -> Definition:
    match result:
        case _Result(function=ast.Lambda() as found, alone=True):
            return _of_lambda(carrier, node.name, found)
        case _Result(function=ast.FunctionDef() as found, alone=True):
            return _whole(carrier, found, node.name)
        case _:
            return _builder(carrier, node)


_ANY: Final = (Parameter("arguments", "any number"), Parameter("keywords", "any keywords"))


def _whole(carrier: Carrier, node: ast.FunctionDef, defined: str | None = None) -> Definition:
    """A function's text, at the left margin and under the name it has in the module."""
    document = carrier.file.document
    name = defined or node.name
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    first = document.comments_above(first, node.col_offset)
    edits = [*carrier.edits, name_edit(document, node, name), *_removals(carrier, node)]
    assert node.end_lineno is not None
    text = document.block(first, node.end_lineno, node.col_offset, edits)
    return Definition((name,), text, True, carrier.local)


def _builder(carrier: Carrier, node: ast.FunctionDef) -> Definition:
    """`build` itself, without its context; it runs once, when the result is first called."""
    document = carrier.file.document
    if carrier.context is not None:
        start, end = document.range([*node.args.posonlyargs, *node.args.args][0])
        following = re.compile(r"\s*,?\s*(/\s*,?\s*)?").match(document.text, end)
        assert following is not None
        carrier._replace(start, following.end())
    whole = _whole(carrier, node)
    return replace(whole, text=("@functools.cache\n", *whole.text))


def _of_lambda(carrier: Carrier, name: str, found: ast.Lambda) -> Definition:
    """A function with a statement that returns."""
    document = carrier.file.document
    body = document.expression(found.body, carrier.edits)
    if found.body.lineno != found.body.end_lineno:
        body = ("(", *body, ")")
    start = document.range(found)[0] + len("lambda")
    end = document.text.rindex(":", start, document.range(found.body)[0])
    parameters = [
        piece.strip() if isinstance(piece, str) else piece for piece in document.extract(start, end, carrier.edits)
    ]
    text = ("def ", Defined(name), "(", *parameters, "):\n    return ", *body)
    return Definition((name,), text, True, carrier.local)


def _removals(carrier: Carrier, node: ast.FunctionDef) -> Iterator[Edit]:
    for block in blocks(node):
        yield from carrier.removals(block)


def _returned(carrier: Carrier, node: ast.FunctionDef) -> _Result:
    """What `build` returns."""
    rest = [each for each in node.body if each not in carrier.removed and not _is_docstring(each)]
    last = node.body[-1]
    match last:
        case ast.Return(value=ast.Lambda() as found):
            return _Result(found, rest == [last] and not _depends(carrier, node, found))
        case ast.Return(value=ast.Name(id=name)):
            inner = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name]
            if len(inner) == 1:
                return _Result(inner[0], rest == [*inner, last] and not _depends(carrier, node, inner[0]))
        case _:
            pass
    if not any(isinstance(each, ast.Return) and each.value is not None for each in ast.walk(node)):
        raise NotCarried(node, "returns nothing to call")
    return _Result(None, alone=False)


def _depends(carrier: Carrier, node: ast.FunctionDef, inner: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether the inner function uses variables of `build` that are still there, or itself."""
    region = carrier.names.functions[node]
    inside = {each for each in ast.walk(inner) if isinstance(each, ast.Name)}
    return any(
        found is region and name in inside and not carrier._is_covered(name)
        for name, found in carrier.names.regions.items()
        if not carrier.compiling.is_context(name)
    )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _parameters(carrier: Carrier, arguments: ast.arguments) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    first: ParameterKind = "positional only"
    kinds: list[ParameterKind] = [first] * len(arguments.posonlyargs) + ["positional"] * len(arguments.args)
    found = [
        Parameter(argument.arg, kind, _text(carrier, default))
        for argument, kind, default in zip(positional, kinds, defaults, strict=True)
    ]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, "any number"))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    found += [Parameter(argument.arg, "keyword only", _text(carrier, default)) for argument, default in pairs]
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, "any keywords"))
    return tuple(found)


def _text(carrier: Carrier, default: ast.expr | None) -> Text | None:
    return carrier.file.document.expression(default, carrier.edits) if default is not None else None
