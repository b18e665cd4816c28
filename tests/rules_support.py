"""Operands made by hand, to drive the typing rules without a syntax walker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, number, symbol
from translators.diagnostic_codes import CODES
from translators.diagnostics import NOWHERE, Diagnostic, Rejected, Span
from translators.intent_source.read import rules
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Function, Keyword, Literal, Operand, Product, Slice, Text, Token
from translators.logical.program import Let, Parameter, Value
from translators.logical.types import Direction, Domain, Scalar, Tensor, View

NONE = Keyword("None")
ELLIPSIS = Keyword("...")
ALL = Slice(None, None, None)
Extent = int | str


def extent(given: Extent) -> Polynomial:
    return number(given) if isinstance(given, int) else symbol(given)


def view(name: str, dtype: DType, *shape: Extent, direction: Direction = "In") -> View:
    return View(name, dtype, tuple(map(extent, shape)), direction)


def lit(value: bool | int | float) -> Literal:
    return Literal(value)


def tup(*items: Operand) -> Product:
    return Product(items)


@dataclass
class PythonTracer:
    """Helpers are Python callables over operands, found by the name of the `Function`."""

    helpers: dict[str, Callable[..., Operand]] = field(default_factory=dict)

    def call(self, function: Function, arguments: Sequence[Operand], span: Span) -> Operand:
        return self.helpers[function.name](*arguments)


class Bench:
    """A builder with short ways to make operands and to call the rules."""

    def __init__(self) -> None:
        self.tracer = PythonTracer()
        self.builder = Builder(tracer=self.tracer)

    def scalar(self, dtype: DType) -> Value:
        return self.builder.one(Parameter("s"), Scalar(dtype))

    def tensor(self, dtype: DType, *shape: Extent) -> Value:
        return self.builder.one(Parameter("t"), Tensor(dtype, tuple(map(extent, shape))))

    def domain(self, stop: Operand | Extent, start: int = 0, step: int = 1) -> Domain:
        end = stop if not isinstance(stop, int | str) else self.size(stop)
        made = self.call("domain", lit(start), end, lit(step))
        assert isinstance(made, Domain)
        return made

    def size(self, given: Extent) -> Operand:
        return lit(given) if isinstance(given, int) else self.builder.size(extent(given))

    def helper(self, function: Callable[..., Operand]) -> Function:
        self.tracer.helpers[function.__name__] = function
        return Function(function.__name__, None, None)  # type: ignore[arg-type]

    def call(self, path: str, *arguments: Operand | DType, **keywords: Operand | DType) -> Operand:
        positional = tuple(_operand(argument) for argument in arguments)
        return rules.call_intrinsic(
            self.builder, path, positional, {name: _operand(value) for name, value in keywords.items()}
        )

    def value(self, path: str, *arguments: Operand | DType, **keywords: Operand | DType) -> Value:
        result = self.call(path, *arguments, **keywords)
        assert isinstance(result, Value)
        return result

    def read(self, base: Operand, *items: Operand) -> Value:
        result = rules.subscript(self.builder, base, items)
        assert isinstance(result, Value)
        return result

    @property
    def ops(self) -> list[object]:
        return [statement.op for statement in self.builder.statements if isinstance(statement, Let)]


def _operand(argument: Operand | DType) -> Operand:
    return Token(argument) if isinstance(argument, DType) else argument


@contextmanager
def rejected(code: str, *words: str) -> Iterator[None]:
    """The block is rejected with `code`, and the message and help contain every one of `words`."""
    with pytest.raises(Rejected) as caught:
        yield
    found: Diagnostic = caught.value.diagnostic
    assert found.code == code, (found.code, found.message)
    assert code in CODES
    text = f"{found.message} {found.help or ''}"
    for word in words:
        assert word in text, text


__all__ = ["ALL", "ELLIPSIS", "NONE", "NOWHERE", "Bench", "Text", "dtypes", "extent", "lit", "rejected", "tup", "view"]
