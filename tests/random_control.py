"""Control flow, helpers, buffers and conversions of more kinds for random programs."""

from __future__ import annotations

from random_expressions import FLOATS, STORED_ONLY, Axis, Context, Term, View, rounded
from random_stages import Stage, Writer

from intent.records import replace

DTYPES = ("f32", "i32", "f32", "i64", "bf16", "f16", "i8", "u8", "f64", "u32")
SAME_WIDTH = {
    "i32": ("f32", "u32"), "u32": ("f32", "i32"), "i16": ("f16", "bf16", "u16"), "u16": ("f16", "bf16", "i16"),
    "i64": ("f64", "u64"), "u64": ("f64", "i64"),
    "i8": ("f8e5m2", "f8e4m3fn", "u8"), "u8": ("f8e5m2", "f8e4m3fn", "i8"),
}  # fmt: skip


def _stored(writer: Writer, context: Context, name: str, place: str, value: Term) -> None:
    texts = (f"{name}[{place}] = {value.text}", f"I.store({name}, ({place},), {value.text})")
    writer.emit(context, writer.expressions.pick(texts))


def _dtype(writer: Writer) -> str:
    return writer.expressions.pick(DTYPES)


# ---------------------------------------------------------------------------------------------------------------- loops
def endless_loop(writer: Writer, context: Context) -> None:
    """while True, left by a count, perhaps earlier; a tensor or a scalar is carried."""
    if context.ordered:
        return
    dtype, carry, count = _dtype(writer), writer.fresh("c"), writer.fresh("t")
    shape = context.shape if writer.chance(0.5) else ()
    writer.emit(context, f"{carry} = {writer.expressions.expression(context, dtype, shape, 1).text}")
    writer.emit(context, f"{count} = I.cast(0, I.i32)")
    writer.emit(context, "while True:")
    inner = context.inner(context.axes, ordered=True)
    inner.terms += [Term(carry, dtype, shape), Term(count, "i32")]
    last = replace(inner, depth=inner.depth + 1)
    writer.emit(inner, f"{count} = {count} + 1")
    writer.emit(inner, f"if {count} > {writer.expressions.pick('0234')}:")
    writer.emit(last, "break")
    if writer.chance(0.5):
        writer.emit(inner, f"if {writer.expressions.expression(inner, 'bool', (), 2).text}:")
        writer.emit(last, writer.expressions.pick(["break", "continue"]))
    writer.emit(inner, f"{carry} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    context.terms += [Term(carry, dtype, shape), Term(count, "i32")]


def record_carry(writer: Writer, context: Context) -> None:
    """A record of a tensor and a scalar as the carry of a loop, rebound in a branch."""
    if context.ordered:
        return
    dtype, name = _dtype(writer), writer.fresh("r")
    start = writer.expressions.expression(context, dtype, context.shape, 1)
    count = writer.expressions.expression(context, "i32", (), 1)
    writer.emit(context, f"{name} = I.record(value={start.text}, count={count.text})")
    writer.emit(context, f"for {writer.fresh('j')} in range({writer.expressions.pick('123')}):")
    inner = context.inner(context.axes, ordered=True)
    parts = [Term(f"{name}.value", dtype, context.shape), Term(f"{name}.count", "i32")]
    inner.terms += parts
    if writer.chance(0.5):
        writer.emit(inner, f"if {writer.expressions.expression(inner, 'bool', (), 2).text}:")
        inner = replace(inner, depth=inner.depth + 1)
    value = writer.expressions.expression(inner, dtype, context.shape, 2)
    writer.emit(inner, f"{name} = I.record(value={value.text}, count={name}.count + 1)")
    context.terms += parts


def nested_loops(writer: Writer, context: Context) -> None:
    """Two ordered loops, the inner as long as the outer's variable says, one carry through both."""
    if context.ordered:
        return
    dtype, carry, outer, inner_name = _dtype(writer), writer.fresh("c"), writer.fresh("j"), writer.fresh("j")
    shape = context.shape if writer.chance(0.4) else ()
    writer.emit(context, f"{carry} = {writer.expressions.expression(context, dtype, shape, 1).text}")
    writer.emit(context, f"for {outer} in range({writer.expressions.pick('234')}):")
    middle = context.inner(context.axes, ordered=True)
    writer.emit(middle, f"for {inner_name} in range({writer.expressions.pick([f'{outer} + 1', outer, '2'])}):")
    inner = middle.inner(middle.axes, ordered=True)
    inner.terms += [Term(carry, dtype, shape), Term(f"I.cast({inner_name} * 3 + {outer}, I.i32)", "i32")]
    writer.emit(inner, f"{carry} = {writer.expressions.expression(inner, dtype, shape, 2).text}")
    context.terms.append(Term(carry, dtype, shape))


def skipped_points(writer: Writer, context: Context) -> None:
    """Points of the last free axis that leave their element alone."""
    free = [axis for axis in context.axes if axis.variable is None]
    if len(free) != 1 or context.ordered:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, point = _dtype(writer), writer.fresh("p")
    writer.emit(context, f"for {point} in I.parallel({axis.domain}):")
    axes = tuple(replace(each, variable=point) if each == axis else each for each in context.axes)
    inner = context.inner(axes, parallel=True)
    writer.emit(inner, f"if {writer.expressions.expression(inner, 'bool', (), 2).text}:")
    writer.emit(replace(inner, depth=inner.depth + 1), "continue")
    name = f"z{len(writer.expressions.views)}"
    place = ", ".join(str(each.variable) for each in axes)
    symbols = tuple(each.symbol for each in axes)
    writer.expressions.views.append(View(name, dtype, symbols, "InOut", 4, readable=False))
    value = writer.expressions.expression(inner, dtype, (), 2)
    writer.emit(
        inner,
        writer.expressions.pick([f"{name}[{place}] = {value.text}", f"I.store({name}, ({place},), {value.text})"]),
    )


def early_return(writer: Writer, context: Context) -> None:
    """Everything that follows may not happen; what it would write is compared only if it does."""
    if context.depth or context.ordered or writer.chance(0.5):
        return
    writer.emit(context, f"if {writer.expressions.expression(context, 'bool', (), 1).text}:")
    writer.emit(replace(context, depth=1), "return")


# -------------------------------------------------------------------------------------------------------------- helpers
def early_result(writer: Writer, context: Context) -> None:
    """A helper that returns early on a scalar condition; its arguments by position, by name, by default."""
    dtype, shape = _dtype(writer), context.shape if writer.chance(0.5) else ()
    step = "1.0" if dtype in FLOATS else "1"
    helper = writer.helper(f"v, stop, *, step={step}", "if stop:", "    return v", "return v + step")
    value = writer.expressions.expression(context, dtype, shape, 2)
    stop = writer.expressions.expression(context, "bool", (), 2)
    given = writer.expressions.pick(["", ", step=2.0" if dtype in FLOATS else ", step=2"])
    bound = None if value.bound is None else rounded(value.bound + 2, dtype)
    writer.define(context, Term(f"{helper}({value.text}, stop={stop.text}{given})", dtype, shape, bound))


def pair_of_results(writer: Writer, context: Context) -> None:
    """A helper that gives a tuple, which calls another; the results are taken apart."""
    dtype = _dtype(writer)
    inner = writer.helper("a, b", f"return a {writer.expressions.pick('+-*')} b")
    outer = writer.helper("a, b", f"return {inner}(a, b), {inner}(b, a)")
    lhs, rhs = (writer.expressions.expression(context, dtype, context.shape, 2) for _ in range(2))
    first, second = writer.fresh("v"), writer.fresh("v")
    writer.emit(context, f"{first}, {second} = {outer}({lhs.text}, {rhs.text})")
    context.terms += [Term(first, dtype, context.shape), Term(second, dtype, context.shape)]


# -------------------------------------------------------------------------------------------------------------- buffers
def filled_buffer(writer: Writer, context: Context) -> None:
    """A buffer that starts as a tensor, is rewritten element by element, and read whole."""
    if context.ordered or len(context.shape) != 1:
        return
    (symbol,) = context.shape
    writer.require(symbol)
    axis = next(each for each in context.axes if each.symbol == symbol)
    dtype, name, step = writer.expressions.pick(["f32", "i32", "i64", "u8"]), writer.fresh("buffer"), writer.fresh("j")
    start = writer.expressions.expression(context, dtype, (symbol,), 1)
    writer.emit(context, f"{name} = I.buffer(({symbol},), I.{dtype}, init={start.text})")
    writer.emit(context, f"for {step} in range(1, {symbol}):")
    inner = context.inner((*context.fixed, Axis(symbol, axis.domain, step)), ordered=True)
    inner.terms = [term for term in inner.terms if not term.shape]
    inner.terms.append(Term(f"I.mutable_load({name}, ({step} - 1,))", dtype))
    value = writer.expressions.expression(inner, dtype, (), 2)
    writer.emit(
        inner, writer.expressions.pick([f"{name}[{step}] = {value.text}", f"I.store({name}, ({step},), {value.text})"])
    )
    writer.define(context, Term(f"{name}[{writer.expressions.pick([':', axis.domain])}]", dtype, (symbol,)))


# ---------------------------------------------------------------------------------------------------------- conversions
def reinterpreted(writer: Writer, context: Context) -> None:
    """The bits of one dtype as another of its width."""
    dtype = writer.expressions.random.choice(sorted(SAME_WIDTH))
    other = writer.expressions.pick(SAME_WIDTH[dtype])
    shape = context.shape if writer.chance(0.6) else ()
    if other in FLOATS or other in STORED_ONLY:
        value = writer.expressions.read(context, other, shape)  # computed NaNs have no bits that one may count on
        bits = writer.define(context, Term(f"I.bitcast({value.text}, I.{dtype})", dtype, shape))
        if other in FLOATS and writer.chance(0.5):
            writer.define(context, Term(f"I.bitcast({bits.text}, I.{other})", other, shape))
        return
    value = writer.expressions.expression(context, other, shape, 2)
    writer.define(context, Term(f"I.bitcast({value.text}, I.{dtype})", dtype, shape))


def narrow_floats(writer: Writer, context: Context) -> None:
    """Selections, extrema and comparisons of 8-bit floats; sums of them are wider."""
    dtype = writer.expressions.pick(STORED_ONLY)
    shape = context.shape
    first, second = (writer.expressions.read(context, dtype, shape).text for _ in range(2))
    condition = writer.expressions.expression(context, "bool", shape, 1).text
    form = writer.expressions.pick(["select", "maximum", "negative", "compare", "sum", "max", "round"])
    if form == "compare":
        writer.define(context, Term(f"({first} < {second})", "bool", shape))
    elif form == "sum" and shape:
        writer.define(context, Term(f"I.reduce.sum({first}, axis={len(shape) - 1})", "f32", shape[:-1], 4 * 40))
    elif form == "round":
        value = writer.expressions.bounded(context, writer.expressions.pick(["f32", "f16", "f64"]), shape, limit=8)
        writer.define(context, Term(f"I.cast(I.cast({value.text}, I.{dtype}), I.f32)", "f32", shape, 8))
    else:
        text = {"select": f"I.select({condition}, {first}, {second})", "maximum": f"I.maximum({first}, {second})",
                "negative": f"-{first}", "max": first}.get(form, first)  # fmt: skip
        if form == "max" and shape:
            writer.output(context, Term(f"I.reduce.max({first}, axis=0)", dtype, shape[1:], 4))
        else:
            writer.output(context, Term(text, dtype, shape, 4))


CONTROL_STAGES: tuple[Stage, ...] = (
    endless_loop, record_carry, nested_loops, skipped_points, early_return, early_result, pair_of_results,
    filled_buffer, reinterpreted, reinterpreted, narrow_floats,
)  # fmt: skip
