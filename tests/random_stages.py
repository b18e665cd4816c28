"""More kinds of statements for random programs: one function each, which appends to a writer.

Every stage leaves a named term in the context, or nothing when the context does not suit it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from random_expressions import FLOATS, LARGEST_SUM, Axis, Context, Expressions, Shape, Term, View, aligned

from intent.records import replace

LARGEST_EXTENT = 40
STAGE_DTYPES = ("f32", "i32", "f32", "i64", "bf16", "f16", "i8", "u8", "f64")


class Writer(Protocol):
    """What a stage needs of the writer of a program."""

    expressions: Expressions

    def chance(self, probability: float) -> bool: ...

    def fresh(self, prefix: str) -> str: ...

    def emit(self, context: Context, line: str) -> None: ...

    def define(self, context: Context, term: Term) -> Term: ...

    def require(self, symbol: str) -> None: ...

    def helper(self, parameters: str, *body: str) -> str: ...

    def named_helper(self, name: str, parameters: str, *body: str) -> None: ...

    def lines_of(self, helper: str) -> tuple[str, ...]: ...

    def output(self, context: Context, value: Term, inexact: bool = False) -> None: ...

    def constant(self, text: str) -> str: ...

    def enumeration(self, *members: str) -> str: ...

    def constexpr(self, annotation: str, default: str, given: object) -> str: ...


Stage = Callable[[Writer, Context], None]


def _dtype(writer: Writer) -> str:
    return writer.expressions.pick(STAGE_DTYPES)


def _one_axis(writer: Writer, context: Context) -> Shape:
    return (writer.expressions.pick(context.shape),)


# -------------------------------------------------------------------------------------------------------------- control
def while_loop(writer: Writer, context: Context) -> None:
    """A counted loop with a second exit, carrying a value."""
    if context.ordered:
        return
    dtype, carry, count = _dtype(writer), writer.fresh("c"), writer.fresh("t")
    shape = context.shape if writer.chance(0.5) else ()
    start = writer.expressions.expression(context, dtype, shape, 1)
    writer.emit(context, f"{carry} = {start.text}")
    writer.emit(context, f"{count} = I.cast(0, I.index)")
    writer.emit(context, f"while {count} < {writer.expressions.pick(['3', '5', '0'])}:")
    inner = context.inner(context.axes, ordered=True)
    inner.terms.append(Term(carry, dtype, shape))
    if writer.chance(0.4):
        stop = writer.expressions.expression(inner, "bool", (), 2)
        writer.emit(inner, f"if {stop.text}:")
        writer.emit(replace(inner, depth=inner.depth + 1), "break")
    step = writer.expressions.expression(inner, dtype, shape, 2)
    writer.emit(inner, f"{carry} = {step.text}")
    writer.emit(inner, f"{count} = {count} + 1")
    context.terms.append(Term(carry, dtype, shape))


def two_carries(writer: Writer, context: Context) -> None:
    """Values that trade places each iteration, perhaps only under a condition."""
    if context.ordered:
        return
    dtype, a, b = _dtype(writer), writer.fresh("c"), writer.fresh("c")
    shape = context.shape if writer.chance(0.5) else ()
    for name in (a, b):
        writer.emit(context, f"{name} = {writer.expressions.expression(context, dtype, shape, 1).text}")
    writer.emit(context, f"for {writer.fresh('j')} in range({writer.expressions.pick(['2', '3', '4'])}):")
    inner = context.inner(context.axes, ordered=True)
    inner.terms += [Term(a, dtype, shape), Term(b, dtype, shape)]
    if writer.chance(0.4):
        condition = writer.expressions.expression(inner, "bool", (), 2)
        writer.emit(inner, f"if {condition.text}:")
        inner = inner.inner(inner.axes, ordered=True)
    writer.emit(inner, f"{a}, {b} = {b}, {writer.expressions.expression(inner, dtype, shape, 2).text}")
    context.terms += [Term(a, dtype, shape), Term(b, dtype, shape)]


def chain(writer: Writer, context: Context) -> None:
    """if, elif, else: a name that is defined before and redefined in some branches."""
    dtype, name = _dtype(writer), writer.fresh("v")
    shape = context.shape if writer.chance(0.6) else ()
    writer.emit(context, f"{name} = {writer.expressions.expression(context, dtype, shape, 1).text}")
    inner = context.inner(context.axes, ordered=context.ordered)
    for keyword in ("if", "elif"):
        condition = writer.expressions.expression(context, "bool", (), 2)
        writer.emit(context, f"{keyword} {condition.text}:")
        writer.emit(inner, f"{name} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    if writer.chance(0.5):
        writer.emit(context, "else:")
        writer.emit(inner, f"{name} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    context.terms.append(Term(name, dtype, shape))


def scalar_choice(writer: Writer, context: Context) -> None:
    """`a if c else b` on a scalar condition."""
    dtype, shape = _dtype(writer), context.shape if writer.chance(0.5) else ()
    condition = writer.expressions.expression(context, "bool", (), 2)
    lhs, rhs = (writer.expressions.expression(context, dtype, shape, 2) for _ in range(2))
    writer.define(context, Term(f"({lhs.text} if {condition.text} else {rhs.text})", dtype, shape))


# -------------------------------------------------------------------------------------------------------- tensor values
def pick_from_value(writer: Writer, context: Context) -> None:
    """Index a computed tensor: reversed, rotated, or looked up under a guard."""
    if not context.shape:
        return
    (symbol,) = _one_axis(writer, context)
    dtype = _dtype(writer)
    domain = next(axis.domain for axis in context.axes if axis.symbol == symbol)
    value = writer.define(context, writer.expressions.expression(context, dtype, (symbol,), 2))
    at = f"I.indices({domain})"
    forms = (
        f"{value.text}[{symbol} - 1 - {at}]",
        f"{value.text}[({at} + 1) % {symbol}]",
        f"I.gather({value.text}, ({at} - 2,), valid={at} >= 2)",
        f"I.gather({value.text}, ({at} ^ 1,), valid=({at} ^ 1) < {symbol})",
    )
    writer.define(context, Term(writer.expressions.pick(forms), dtype, (symbol,), value.bound))


def outer_product(writer: Writer, context: Context) -> None:
    if len(context.shape) != 2:
        return
    dtype = writer.expressions.pick(("f32", "i32", "f16"))
    rows, columns = (writer.expressions.bounded(context, dtype, (symbol,)) for symbol in context.shape)
    writer.define(context, Term(f"I.outer({rows.text}, {columns.text})", dtype, context.shape))


def matrix_vector(writer: Writer, context: Context) -> None:
    """matvec, vecmat or dot: the axes that stay are the context's others."""
    if len(context.shape) != 2 or context.ordered:
        return
    dtype = writer.expressions.pick(("f32", "f16", "bf16"))
    rows, columns = context.shape
    matrix = writer.expressions.bounded(context, dtype, context.shape, 1)
    form = writer.expressions.pick(["matvec", "vecmat", "dot"])
    if form == "dot":
        lhs, rhs = (writer.expressions.bounded(context, dtype, (columns,), 1) for _ in range(2))
        _contracted(writer, context, f"I.dot({lhs.text}, {rhs.text}, acc_dtype=I.f32)[()]", (), (lhs, rhs))
        return
    vector = writer.expressions.bounded(context, dtype, (columns if form == "matvec" else rows,), 1)
    first, second = (matrix, vector) if form == "matvec" else (vector, matrix)
    left = (rows,) if form == "matvec" else (columns,)
    _contracted(writer, context, f"I.{form}({first.text}, {second.text}, acc_dtype=I.f32)", left, (first, second))


def _contracted(writer: Writer, context: Context, text: str, shape: Shape, operands: tuple[Term, Term]) -> None:
    bound = (operands[0].bound or 1) * (operands[1].bound or 1) * LARGEST_EXTENT
    writer.define(context, Term(text, "f32", shape, bound if bound <= LARGEST_SUM else None))


def pair_swap(writer: Writer, context: Context) -> None:
    """Neighbours of a static even axis trade places, through reshape and join."""
    if not context.shape or not context.shape[-1].isdigit():
        return
    dtype, shape = _dtype(writer), context.shape[-1:]
    value = writer.define(context, writer.expressions.expression(context, dtype, shape, 2))
    pairs = writer.define(context, Term(f"I.reshape({value.text}, ({int(shape[0]) // 2}, 2))", dtype, ("pairs", "2")))
    context.terms.remove(pairs)
    text = f"I.reshape(I.join({pairs.text}[:, 1], {pairs.text}[:, 0]), ({shape[0]},))"
    writer.define(context, Term(text, dtype, shape, value.bound))


def subregion(writer: Writer, context: Context) -> None:
    """A reduction over the part of an axis below a runtime bound."""
    axes = [axis for axis in context.axes if axis.variable is None and not axis.symbol.isdigit()]
    if not axes:
        return
    axis = writer.expressions.random.choice(axes)
    view = View(f"x{len(writer.expressions.views)}", "f32", (axis.symbol,), "In", 4)
    writer.expressions.views.append(view)
    region = writer.fresh("region")
    low, high = (writer.expressions.pick(each) for each in (("0", "1", "2"), ("3", "5", "20")))
    bounds = f"I.minimum({low}, {axis.symbol}):I.minimum({high}, {axis.symbol})"
    writer.emit(context, f"{region} = {axis.domain}[{bounds}]")
    kind = writer.expressions.pick(["sum", "max"])
    bound = 4 * LARGEST_EXTENT if kind == "sum" else None
    writer.define(context, Term(f"I.reduce.{kind}({view.name}[{region}], axis=0)", "f32", (), bound))


def buffer(writer: Writer, context: Context) -> None:
    """A buffer of a few elements, filled by an ordered loop and read back."""
    if context.ordered or context.shape:
        return
    dtype, name, step = writer.expressions.pick(("i32", "f32", "i64")), writer.fresh("buffer"), writer.fresh("j")
    zero = "0.0" if dtype in FLOATS else "0"
    writer.emit(context, f"{name} = I.buffer((4,), I.{dtype}, init={zero})")
    writer.emit(context, f"for {step} in range(6):")
    inner = context.inner(context.axes, ordered=True)
    value = writer.expressions.expression(inner, dtype, (), 2)
    writer.emit(inner, f"{name}[{step} % 4] = {name}[({step} + 1) % 4] + {value.text}")
    writer.define(context, Term(f"{name}[{writer.expressions.pick('0123')}]", dtype, ()))


def nested_parallel(writer: Writer, context: Context) -> None:
    """Points of the last axis inside the current context, which read its tensors at their own position."""
    free = [axis for axis in context.axes if axis.variable is None]
    if len(free) != 1 or not context.parallel or context.ordered:
        return
    (axis,) = free
    dtype = _dtype(writer)
    value = writer.define(context, writer.expressions.expression(context, dtype, (axis.symbol,), 2))
    point = writer.fresh("p")
    writer.emit(context, f"for {point} in I.parallel({axis.domain}):")
    axes = tuple(replace(each, variable=point) if each == axis else each for each in context.axes)
    inner = context.inner(axes, parallel=True)
    inner.terms.append(Term(f"{value.text}[{point}]", dtype, ()))
    result = writer.expressions.expression(inner, dtype, (), 2)
    name = f"y{len(writer.expressions.views)}"
    symbols = tuple(each.symbol for each in axes)
    place = ", ".join(str(each.variable) for each in axes)
    writer.emit(inner, f"{name}[{place}] = {result.text}")
    writer.expressions.views.append(View(name, dtype, symbols, "Out", None))


def normalisation(writer: Writer, context: Context) -> None:
    """exp(v - max) / sum: inexact, so that it goes straight to an output."""
    if not context.shape:
        return
    axis = len(context.shape) - 1
    left = context.shape[:-1]
    value = writer.define(context, writer.expressions.bounded(context, "f32", context.shape))
    top = writer.define(context, Term(f"I.reduce.max({value.text}, axis={axis})", "f32", left))
    weights = writer.fresh("w")
    spread = aligned(top, context.shape) if left else top.text
    if left:
        spread = f"{top.text}[{', '.join([':'] * len(left))}, None]"
    writer.emit(context, f"{weights} = I.exp({value.text} - {spread})")
    total = writer.fresh("w")
    writer.emit(context, f"{total} = I.reduce.sum({weights}, axis={axis})")
    divisor = f"{total}[{', '.join([':'] * len(left))}, None]" if left else total
    name = f"y{len(writer.expressions.views)}"
    symbols = (*(each.symbol for each in context.fixed), *context.shape)
    items = [each.variable or each.domain for each in (*context.fixed, *_free(context))]
    writer.emit(context, f"{name}[{', '.join(items)}] = {weights} / {divisor}")
    writer.expressions.views.append(View(name, "f32", symbols, "Out", None, inexact=True, readable=False))


def _free(context: Context) -> list[Axis]:
    return [axis for axis in context.axes if axis.variable is None]


STAGES: tuple[Stage, ...] = (
    while_loop, two_carries, chain, scalar_choice, pick_from_value, outer_product, matrix_vector, pair_swap, subregion,
    buffer, nested_parallel, normalisation,
)  # fmt: skip
