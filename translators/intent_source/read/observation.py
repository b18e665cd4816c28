"""What each name of a file means where it stands: text in, names with their places and types out, for editors.

Errors are left out here; where they leave something unread, nothing is said of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress

from intent.records import dataclass, field
from translators.diagnostics import Rejected, Span
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.definitions import signature
from translators.intent_source.read.files import Files, kernels
from translators.intent_source.read.module import walk
from translators.intent_source.read.operands import Literal, Operand, Product, ShapeOf
from translators.intent_source.read.rules.describe import describe, describe_value, show_extent, show_shape
from translators.intent_source.read.scope import REFERENCES, Binding, ModuleScope
from translators.intent_source.read.walker import Walker
from translators.logical.program import Parameter, Read, Value
from translators.logical.types import Buffer, Domain, View
from translators.logical.variation import operands


@dataclass(frozen=True, slots=True)
class Observed:
    """A name, or the last part of a dotted one, at one place of a kernel or of a helper that the kernel calls.

    `sources` are the parameters that its value is computed from; `line` is where that is done, 0 if nowhere.
    """

    kernel: str
    name: str
    span: Span
    binding: Binding
    described: str
    sources: tuple[str, ...] = ()
    line: int = 0


def observe(
    text: str, path: str, constexprs: Mapping[str, object] | None = None, alone: bool = False
) -> list[Observed]:
    """Every name of every kernel, in the order of the text; of what is read several times, as it is read last."""
    files = Files(alone)
    try:
        scope = files.open(text, path)
    except Rejected:
        return []
    found: dict[tuple[int, int], Observed] = {}
    for node in kernels(scope):
        recorder = _Recorder(node.name, scope, found)
        builder = Builder()
        with suppress(RecursionError):
            declared = signature(scope, node, constexprs or {}, builder.diagnostics)
            walker = walk(scope, node, declared, builder, recorder)
            for parameter in (each for each in ast.walk(node.args) if isinstance(each, ast.arg)):
                if parameter.arg in walker.frames[0].names:
                    recorder(walker, parameter, _declared(declared, parameter.arg, walker))
    return [found[place] for place in sorted(found)]


def _declared(declared: tuple[object, ...], name: str, walker: Walker) -> Binding:
    """What a parameter was at first; its name may have been bound again since."""
    view = next((each for each in declared if isinstance(each, View) and each.name == name), None)
    return view if view is not None else walker.frames[0].names[name]


@dataclass(slots=True)
class _Recorder:
    kernel: str
    scope: ModuleScope
    found: dict[tuple[int, int], Observed] = field(default_factory=dict)

    def __call__(self, walker: Walker, node: ast.AST, binding: Binding) -> None:
        name = _name(node)
        if name is None or walker.scope.source is not self.scope.source:
            return
        span = _place(walker.scope.source.span(node), node, name)
        described = "" if isinstance(binding, REFERENCES) else described_operand(walker.builder, binding)
        sources = _sources(binding) if isinstance(binding, Value) else ()
        line = _line(binding, self.scope.source.path) if isinstance(binding, Value) else 0
        self.found[span.line, span.column] = Observed(self.kernel, name, span, binding, described, sources, line)


def _line(value: Value, path: str) -> int:
    """Where the value is computed; a parameter's is not."""
    return 0 if isinstance(value.origin, Parameter) or value.span.path != path else value.span.line


def _name(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return name
        case _:
            return None


def _place(span: Span, node: ast.AST, name: str) -> Span:
    """Of the name alone: the end of an attribute, the beginning of a parameter."""
    if isinstance(node, ast.Attribute):
        return Span(span.path, span.end_line, span.end_column - len(name), span.end_line, span.end_column)
    return Span(span.path, span.line, span.column, span.line, span.column + len(name))


# ------------------------------------------------------------------------------------------------------------ in words
def described_operand(builder: Builder, operand: Operand) -> str:
    """Kind, dtype and shape, by the author's names."""
    match operand:
        case Value():
            return describe_value(builder, operand).partition(" ")[2]
        case View(dtype=dtype, shape=shape, direction=direction):
            return f"{direction} view, {dtype.name} {show_shape(builder, shape)}"
        case Buffer(dtype=dtype, shape=shape):
            return f"buffer, {dtype.name} {show_shape(builder, shape)}"
        case Domain():
            return _domain(builder, operand)
        case Literal(value=value):
            return f"compile-time {value!r}"
        case ShapeOf(extents=extents):
            return f"shape {show_shape(builder, [builder.polynomial(each) for each in extents])}"
        case Product(items=items, names=None):
            return f"({', '.join(described_operand(builder, each) for each in items)})"
        case Product(items=items, names=names):
            fields = zip(names or (), items, strict=True)
            return ", ".join(f"{name}: {described_operand(builder, each)}" for name, each in fields)
        case _:
            return describe(builder, operand)


def _domain(builder: Builder, domain: Domain) -> str:
    begin, end = (show_extent(builder, each) for each in (domain.begin_polynomial, domain.end_polynomial))
    step = f", every {domain.step}th" if domain.step != 1 else ""
    kind = "domain" if domain.parent is None else f"subregion of {domain.parent.name or 'a domain'}"
    return f"{kind} [{begin}, {end}){step}"


def _sources(value: Value) -> tuple[str, ...]:
    """Views and scalar parameters that the value is computed from, in the order in which they come up."""
    found: dict[str, None] = {}
    seen: set[Value] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            found.update(dict.fromkeys(_parameters(each)))
            pending.extend(operands(each.origin))
    return tuple(found)


def _parameters(value: Value) -> Iterator[str]:
    match value.origin:
        case Parameter(name=name):
            yield name
        case Read(memory=memory):
            yield memory.name
        case _:
            pass
