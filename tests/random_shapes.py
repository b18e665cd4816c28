"""Shapes of tensor values for random programs: reshapes, slices, new axes, records in records, all forms of subscripts.

What has an axis that the context lacks (a half of a row, a pair, a merged axis) goes to an output or is reduced away.
"""

from __future__ import annotations

from random_expressions import FLOATS, Axis, Context, Shape, Term, View
from random_stages import LARGEST_EXTENT, Stage, Writer

from intent.records import replace

DTYPES = ("f32", "i32", "f32", "f16", "bf16", "i64", "u8", "i8", "f64", "bool", "u16", "u64")


def free_axes(context: Context) -> list[Axis]:
    return [axis for axis in context.axes if axis.variable is None]


def new_view(writer: Writer, direction: str, dtype: str, shape: Shape, bound: int | None = None) -> View:
    """A view that only the stage itself reads."""
    views = writer.expressions.views
    prefix = {"In": "x", "Out": "y", "InOut": "z"}[direction]
    views.append(View(f"{prefix}{len(views)}", dtype, shape, direction, bound, readable=False))
    return views[-1]


def store_whole(writer: Writer, context: Context, value: Term) -> None:
    """To an output with the loop variables' axes first, and the value's own, which the context need not have."""
    target = new_view(writer, "Out", value.dtype, (*(axis.symbol for axis in context.fixed), *value.shape))
    items = [str(axis.variable) for axis in context.fixed] + [":"] * len(value.shape)
    if value.shape and writer.chance(0.2):
        items = [*items[: len(context.fixed)], "..."]
    writer.emit(context, f"{target.name}[{', '.join(items) or '()'}] = {value.text}")


def along_last(writer: Writer, context: Context, value: Term, left: Shape) -> None:
    """Reduced along its last axis, which the context lacks, or stored."""
    if writer.chance(0.4):
        store_whole(writer, context, value)
        return
    function = "any" if value.dtype == "bool" else "max"
    writer.define(context, Term(f"I.reduce.{function}({value.text}, axis=-1)", value.dtype, left, value.bound))


def _value(writer: Writer, context: Context, shape: Shape, depth: int = 2) -> Term:
    dtype = writer.expressions.pick(DTYPES)
    return writer.define(context, writer.expressions.expression(context, dtype, shape, depth))


def extents(writer: Writer, shape: Shape) -> str:
    for symbol in shape:
        if not symbol.isdigit():
            writer.require(symbol)
    return f"({', '.join(shape)}{',' if len(shape) == 1 else ''})"


# ------------------------------------------------------------------------------------------------------------- reshapes
def merged_axes(writer: Writer, context: Context) -> None:
    """Two axes as one, something along it, and back."""
    if len(context.shape) != 2:
        return
    value = _value(writer, context, context.shape)
    rows, columns = context.shape
    writer.require(rows)
    one = writer.expressions.pick(["(-1,)", "(...,)", f"({rows} * {columns},)"])
    flat = writer.fresh("flat")
    writer.emit(context, f"{flat} = I.reshape({value.text}, {one})")
    form = writer.expressions.pick(["back", "back", "other", "max", "scan", "store"])
    if form == "back":
        doubled = flat if value.dtype == "bool" else f"{flat} + {flat}"
        bound = None if value.bound is None or value.bound > 100 else value.bound * 2
        text = f"I.reshape({doubled}, {extents(writer, context.shape)})"
        writer.define(context, Term(text, value.dtype, context.shape, bound))
    elif form == "other":  # rows and columns trade extents, not places
        text = f"I.reshape(I.reshape({flat}, ({columns}, {rows})), {extents(writer, context.shape)})"
        writer.define(context, Term(text, value.dtype, context.shape, value.bound))
    elif form == "max" and value.dtype != "bool":
        writer.define(context, Term(f"I.reduce.max({flat}, axis=0)", value.dtype, ()))
    elif form == "scan" and value.dtype != "bool":
        text = f"I.reshape(I.cummax({flat}, axis=0), {extents(writer, context.shape)})"
        writer.define(context, Term(text, value.dtype, context.shape))
    else:
        store_whole(writer, context, Term(f"I.reshape({flat}, ({columns}, -1))", value.dtype, (columns, rows)))


def split_axis(writer: Writer, context: Context) -> None:
    """A static axis as two: one of them reduced, scanned, or both exchanged."""
    if not context.shape or context.shape[-1] != "8":
        return
    left = context.shape[:-1]
    value = _value(writer, context, context.shape)
    first, second = writer.expressions.random.choice([("2", "4"), ("4", "2"), ("8", "1"), ("1", "8")])
    head = "".join(f"{symbol}, " for symbol in left)
    for symbol in left:
        writer.require(symbol)
    named = writer.fresh("pair")
    last = writer.expressions.pick([second, "...", "-1"])
    writer.emit(context, f"{named} = I.reshape({value.text}, ({head}{first}, {last}))")
    form = writer.expressions.pick(["swap", "swap", "reduce", "back", "both", "index"])
    function = "any" if value.dtype == "bool" else "max"
    rank = len(left)
    if form == "swap":
        order = ", ".join([*map(str, range(rank)), str(rank + 1), str(rank)])
        text = f"I.reshape(I.transpose({named}, ({order})), {extents(writer, context.shape)})"
        writer.define(context, Term(text, value.dtype, context.shape, value.bound))
    elif form == "reduce":
        axis = writer.expressions.random.choice([rank, rank + 1])
        text = f"I.reduce.{function}({named}, axis={axis})"
        store_whole(writer, context, Term(text, value.dtype, (*left, second if axis == rank else first)))
    elif form == "back":
        colons = ":, " * rank
        text = f"I.reduce.{function}({named}, axis={rank + 1})"
        top = writer.fresh("top")
        writer.emit(context, f"{top} = {text}")
        condition = named if value.dtype == "bool" else f"{named} >= {top}[{colons}:, None]"
        text = f"I.reshape({condition}, {extents(writer, context.shape)})"
        writer.define(context, Term(text, "bool", context.shape))
    elif form == "both":
        text = f"I.reduce.{function}({named}, axis=({rank}, {rank + 1}))"
        writer.define(context, Term(text, value.dtype, left, value.bound))
    else:
        at = writer.expressions.random.randrange(int(second))
        text = f"{named}[{':, ' * rank}:, {at}]"
        store_whole(writer, context, Term(text, value.dtype, (*left, first)))


def joined(writer: Writer, context: Context) -> None:
    """A pair for each element: taken apart, reduced, or interleaved."""
    if not context.shape or len(context.shape) > 2:
        return
    dtype = writer.expressions.pick(DTYPES)
    first, second = (
        writer.define(context, writer.expressions.expression(context, dtype, context.shape, 1)) for _ in range(2)
    )
    pair = writer.fresh("pair")
    writer.emit(context, f"{pair} = I.join({first.text}, {second.text})")
    form = writer.expressions.pick(["part", "reduce", "store", "interleave"])
    colons = ", ".join([":"] * len(context.shape))
    if form == "part":
        item = writer.expressions.pick(["0", "1", "-1"])
        writer.define(context, Term(f"{pair}[{colons}, {item}]", dtype, context.shape))
    elif form == "reduce":
        function = "all" if dtype == "bool" else "max"
        writer.define(context, Term(f"I.reduce.{function}({pair}, axis={len(context.shape)})", dtype, context.shape))
    elif form == "interleave" and len(context.shape) == 1:
        function = "any" if dtype == "bool" else "max"
        text = f"I.reshape({pair}, (2 * {context.shape[0]},))"
        writer.require(context.shape[0])
        if context.shape[0].isdigit() and writer.chance(0.6):
            store_whole(writer, context, Term(text, dtype, (str(2 * int(context.shape[0])),)))
        else:
            writer.define(context, Term(f"I.reduce.{function}({text}, axis=0)", dtype, ()))
    else:
        store_whole(writer, context, Term(pair, dtype, (*context.shape, "2")))


# --------------------------------------------------------------------------------------------------------------- slices
def static_slices(writer: Writer, context: Context) -> None:
    """Parts and elements of a static axis, of a value or of a view."""
    if not context.shape or context.shape[-1] != "8":
        return
    left = context.shape[:-1]
    dtype = writer.expressions.pick(DTYPES)
    if writer.chance(0.5):
        base = writer.define(context, writer.expressions.expression(context, dtype, context.shape, 2)).text
        items = [":"] * len(left)
    else:
        fixed = tuple(axis.symbol for axis in context.fixed)
        base = new_view(writer, "In", dtype, (*fixed, *context.shape), bound=4).name
        items = [str(axis.variable) for axis in context.fixed]
        items += [writer.expressions.pick([":", axis.domain]) for axis in free_axes(context)[:-1]]
    item, size = writer.expressions.random.choice(
        [("2:6", "4"), ("4:", "4"), (":3", "3"), ("0", ""), ("-1", ""), ("5", ""), ("-3", ""), ("7:8", "1")]
    )
    text = f"{base}[{', '.join([*items, item])}]"
    bound = 4 if dtype in FLOATS else None
    if not size:
        writer.define(context, Term(text, dtype, left))
    else:
        along_last(writer, context, Term(text, dtype, (*left, size), bound), left)


def halves(writer: Writer, context: Context) -> None:
    """Both halves of a row in place: reads are snapshots of what was there."""
    if context.ordered or len(context.shape) > 1:
        return
    free = free_axes(context)
    if free and free[0].symbol != "8":
        return
    fixed = tuple(axis.symbol for axis in context.fixed)
    if not free and not fixed:
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16", "bf16"])
    target = new_view(writer, "InOut", dtype, (*fixed, "8"), bound=4)
    place = "".join(f"{axis.variable}, " for axis in context.fixed)
    first, second = writer.fresh("half"), writer.fresh("half")
    writer.emit(context, f"{first} = {target.name}[{place}0:4]")
    writer.emit(context, f"{second} = {target.name}[{place}4:8]")
    scale = writer.expressions.expression(context, dtype, (), 1).text
    writer.emit(context, f"{target.name}[{place}0:4] = {first} * {scale} - {second}")
    writer.emit(context, f"{target.name}[{place}4:8] = {second} * {scale} + {first}")


def runtime_slice(writer: Writer, context: Context) -> None:
    """`x[b:e]` of views, with bounds from a parameter; the rest is left alone."""
    free = free_axes(context)
    if context.ordered or len(free) != 1 or free[0].symbol.isdigit():
        return
    symbol = free[0].symbol
    writer.require(symbol)
    dtype = writer.expressions.pick(["f32", "i32", "u8", "bf16"])
    fixed, place = tuple(axis.symbol for axis in context.fixed), "".join(f"{a.variable}, " for a in context.fixed)
    count = writer.expressions.scalar("index").text
    begin, end = writer.fresh("b"), writer.fresh("e")
    writer.emit(context, f"{begin} = I.minimum(I.maximum({count}, 0), {symbol})")
    writer.emit(context, f"{end} = I.minimum({begin} + {writer.expressions.pick('0259')}, {symbol})")
    part = writer.expressions.pick([f"{begin}:{end}", f"{begin}:{end}", f"{begin}:", f":{end}"])
    source = new_view(writer, "In", dtype, (*fixed, symbol), bound=4)
    target = new_view(writer, "InOut", dtype, (*fixed, symbol), bound=4)
    scale = writer.expressions.expression(context, dtype, (), 1).text
    writer.emit(context, f"{target.name}[{place}{part}] = {source.name}[{place}{part}] * {scale}")
    if writer.chance(0.4):
        text = f"I.reduce.max({source.name}[{place}{part}], axis=0)"
        writer.define(context, Term(text, dtype, (), 4 if dtype in FLOATS else None))


# ----------------------------------------------------------------------------------------------------------- subscripts
def whole_axes(writer: Writer, context: Context) -> None:
    """Axes that a subscript leaves out, `...`, and new axes."""
    free = free_axes(context)
    dtype = writer.expressions.pick(DTYPES)
    fixed = tuple(axis.symbol for axis in context.fixed)
    source = new_view(writer, "In", dtype, (*fixed, *context.shape), bound=4)
    variables = [str(axis.variable) for axis in context.fixed]
    forms = [[*variables, "..."]]
    if variables:
        forms.append(variables)
    if free:
        first, last = free[0].domain, free[-1].domain
        forms += [[*variables, "...", last], [*variables, first], [*variables, first, "..."]]
        forms.append([*variables, *(axis.domain for axis in free)])
    text = f"{source.name}[{', '.join(writer.expressions.random.choice(forms))}]"
    bound = 4 if dtype in FLOATS else None
    if context.shape and writer.chance(0.3):  # an axis of extent one, broadcast again
        at = writer.expressions.random.randrange(len(context.shape) + 1)
        items = [":"] * len(context.shape)
        items.insert(at, "None")
        wide = writer.fresh("wide")
        writer.emit(context, f"{wide} = ({text})[{', '.join(items)}]")
        items[at] = "0"
        text = f"{wide}[{', '.join(items)}]"
    if len(context.shape) == 2 and writer.chance(0.3):
        text = f"I.transpose(I.transpose({text}))"
    writer.define(context, Term(text, dtype, context.shape, bound))


def transposed_store(writer: Writer, context: Context) -> None:
    if len(context.shape) != 2:
        return
    value = _value(writer, context, context.shape)
    permutation = writer.expressions.pick(["", ", (1, 0)", ", permutation=(1, 0)", ", (-1, 0)"])
    text = f"I.transpose({value.text}{permutation})"
    store_whole(writer, context, Term(text, value.dtype, context.shape[::-1]))


def rank_zero(writer: Writer, context: Context) -> None:
    """A tensor of rank zero and its scalar."""
    dtype = writer.expressions.pick(DTYPES)
    name = writer.fresh("zero")
    literal = writer.expressions.expression(context, dtype, (), 1).text
    made = writer.expressions.pick([f"I.full((), {literal}, dtype=I.{dtype})", f"I.zeros((), I.{dtype})"])
    writer.emit(context, f"{name} = {made}")
    if writer.chance(0.4):
        store_whole(writer, context, Term(name, dtype))
    writer.define(context, Term(f"{name}[()]", dtype))


def pairwise(writer: Writer, context: Context) -> None:
    """Every element against every other: ranks, and products on one domain twice."""
    if len(context.shape) != 1 or context.ordered:
        return
    (axis,) = free_axes(context)
    writer.require(axis.symbol)
    dtype = writer.expressions.pick(["f32", "i32", "u8", "f16"])
    value = writer.define(context, writer.expressions.expression(context, dtype, context.shape, 2))
    if writer.chance(0.6):
        operator = writer.expressions.pick(["<", "<=", "=="])
        text = f"I.cast({value.text}[:, None] {operator} {value.text}[None, :], I.i32)"
        rank = writer.expressions.pick("01")
        writer.define(context, Term(f"I.reduce.sum({text}, axis={rank})", "i32", context.shape, LARGEST_EXTENT))
        return
    fixed, place = tuple(each.symbol for each in context.fixed), "".join(f"{a.variable}, " for a in context.fixed)
    target = new_view(writer, "Out", dtype, (*fixed, axis.symbol, axis.symbol))
    region = axis.domain
    writer.emit(context, f"{target.name}[{place}{region}, {region}] = {value.text}[:, None] * {value.text}[None, :]")


def several_domains(writer: Writer, context: Context) -> None:
    """The coordinates of two domains at once."""
    free = free_axes(context)
    if len(free) != 2:
        return
    first, second = free
    for axis in free:
        writer.require(axis.symbol)
    i, j = writer.fresh("i"), writer.fresh("i")
    writer.emit(context, f"{i}, {j} = I.indices(({first.domain}, {second.domain}))")
    text = writer.expressions.pick([
        f"({i}[:, None] {writer.expressions.pick(['<', '>=', '!='])} {j}[None, :])",
        f"(({i}[:, None] + {j}) % 2 == 0)", f"(({i}[:, None] ^ {j}) < 3)",
    ])  # fmt: skip
    writer.define(context, Term(text, "bool", context.shape))


# -------------------------------------------------------------------------------------------------------------- records
def nested_records(writer: Writer, context: Context) -> None:
    """A record of records and tuples, through a helper."""
    dtype = writer.expressions.pick(["f32", "i32", "f16"])
    lhs, rhs = (writer.expressions.expression(context, dtype, context.shape, 1) for _ in range(2))
    flag = writer.expressions.expression(context, "bool", (), 1)
    inner = writer.fresh("r")
    writer.emit(context, f"{inner} = I.record(pair=({lhs.text}, {rhs.text}), own=I.record(flag={flag.text}, at=3))")
    swap = writer.helper("r", "a, b = r.pair", "return I.record(pair=(b, a), own=r.own)")
    name = writer.fresh("r")
    writer.emit(context, f"{name} = {swap}({inner})")
    first, second = writer.fresh("v"), writer.fresh("v")
    writer.emit(context, f"{first}, {second} = {name}.pair")
    context.terms += [
        Term(first, dtype, context.shape), Term(second, dtype, context.shape), Term(f"{name}.own.flag", "bool"),
        Term(f"{name}.pair[{writer.expressions.pick('01')}]", dtype, context.shape), Term(f"{name}.own.at", "i64"),
    ]  # fmt: skip


def approximations(writer: Writer, context: Context) -> None:
    """What the author allows to be inexact, straight to an output."""
    value = writer.expressions.bounded(context, "f32", context.shape, 2, limit=8)
    form = writer.expressions.pick([
        "I.exp2({}, approximate=True)", "I.exp2({}, approximate=True, flush_to_zero=True)",
        "I.tanh({}, approximate=True)", "I.fdiv({}, 3.0, approximate=True)",
        "I.fdiv({}, 5.0, approximate=True, flush_to_zero=True)", "I.exp2({} * I.LOG2E)", "2.0 ** {}",
    ])  # fmt: skip
    text = form.format(f"I.cast({value.text}, I.f32)" if form[0] == "2" and not value.shape else value.text)
    target = replace(context, terms=[])
    writer.output(target, Term(text, "f32", context.shape), inexact=True)


SHAPE_STAGES: tuple[Stage, ...] = (
    merged_axes, split_axis, split_axis, joined, static_slices, halves, runtime_slice, whole_axes, transposed_store,
    rank_zero, pairwise, several_domains, nested_records, approximations,
)  # fmt: skip
