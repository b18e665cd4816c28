"""Effects of more forms for random programs: tiles at once, rows by table, buffers of rank two, memory as scratch."""

from __future__ import annotations

from random_expressions import FLOATS, Axis, Context, Shape, Term, View, aligned
from random_shapes import free_axes, new_view
from random_stages import LARGEST_EXTENT, Stage, Writer

from intent.records import replace

PLACES = "8"
WORDS = ("i32", "i32", "u32", "f32", "i64", "i8", "u8", "i16", "f64")


def _fixed(context: Context) -> tuple[list[str], Shape]:
    return [str(axis.variable) for axis in context.fixed], tuple(axis.symbol for axis in context.fixed)


def _table(writer: Writer, kind: str, axis: Axis) -> str:
    """`perm` is a permutation of the axis, `at` holds anything; at the axis' own coordinates."""
    view = new_view(writer, "In", writer.expressions.pick(["i32", "i64", "index"]), (axis.symbol,))
    view.name = f"{kind}{view.name[1:]}"
    return f"{view.name}[{axis.variable or axis.domain}]"


def _number(writer: Writer, context: Context, dtype: str, shape: Shape) -> Term:
    if dtype in FLOATS:
        return writer.expressions.bounded(context, dtype, shape, 2, limit=8)
    return writer.expressions.expression(context, dtype, shape, 2)


# --------------------------------------------------------------------------------------------------- gathers, scatters
def row_gather(writer: Writer, context: Context) -> None:
    """Whole rows by a table: guarded, filled with a tensor or a number, or promised to be inside."""
    free = free_axes(context)
    if len(free) != 2:
        return
    rows, columns = free
    for axis in free:
        writer.require(axis.symbol)
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8", "bf16"])
    source = new_view(writer, "In", dtype, (rows.symbol, columns.symbol), bound=4)
    bound = 4 if dtype in FLOATS else None
    form = writer.expressions.pick(["guarded", "guarded", "whole", "promised"])
    column = writer.expressions.pick(["slice(None)", columns.domain])
    if form == "promised":
        at = writer.fresh("position")
        writer.emit(context, f"{at} = {_table(writer, 'perm', rows)}")
        writer.emit(context, f"I.assume_in_bounds({at}, {source.name}, axis=0)")
        writer.define(context, Term(f"{source.name}[{at}, {columns.domain}]", dtype, context.shape, bound))
        return
    if form == "whole":
        text = f"I.gather({source.name}, index=({_table(writer, 'perm', rows)}, {column}))"
        writer.define(context, Term(text, dtype, context.shape, bound))
        return
    at = writer.fresh("position")
    writer.emit(context, f"{at} = I.cast({_table(writer, 'at', rows)}, I.index)")
    valid = f"(({at} >= 0) & ({at} < {rows.symbol}))[:, None]"
    fill = writer.expressions.bounded(context, dtype, writer.expressions.some_shape(context.shape), 1, limit=8)
    given = writer.expressions.pick(["", f", fill={aligned(fill, context.shape)}", ", fill=2"])
    if given == ", fill=2" and dtype in FLOATS:
        given = ", fill=2.0"
    bound = None if bound is None or fill.bound is None else max(8, fill.bound)
    text = f"I.gather({source.name}, ({at}, {column}), valid={valid}{given})"
    writer.define(context, Term(text, dtype, context.shape, bound))


def row_scatter(writer: Writer, context: Context) -> None:
    """Rows of three axes: where one stands fixed, another is a table, and the last a domain or whole."""
    free = free_axes(context)
    if context.ordered or not free or len(free) > 2:
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8"])
    rows, others = free[0], free[1:]
    for axis in free:
        writer.require(axis.symbol)
    variables, symbols = _fixed(context)
    value = _number(writer, context, dtype, context.shape)
    last = [writer.expressions.pick([axis.domain, "slice(None)"]) for axis in others]
    target = new_view(writer, "InOut", dtype, (*symbols, rows.symbol, "2", *(a.symbol for a in others)), bound=4)
    middle = writer.expressions.pick(["0", "1", "-1"])
    index = ", ".join([*variables, _table(writer, "perm", rows), middle, *last])
    if last and "slice" in last[0] and writer.chance(0.5):
        writer.emit(context, f"{target.name}[{index.replace('slice(None)', ':')}] = {value.text}")
        return
    writer.emit(context, f"I.scatter_unique({target.name}, index=({index}), value={value.text})")


def tile_update(writer: Writer, context: Context) -> None:
    """An atomic update of a whole tile, at its own elements or at rows that repeat."""
    free = free_axes(context)
    if context.ordered or len(free) != 2:
        return
    dtype = writer.expressions.pick(WORDS)
    for axis in free:
        writer.require(axis.symbol)
    rows, columns = free
    value = _number(writer, context, dtype, context.shape)
    actions = ["add", "max", "min"] + ([] if dtype in FLOATS else ["or_", "xor", "and_"])
    action = writer.expressions.pick(actions)
    if writer.chance(0.5):
        place, size = writer.expressions.expression(context, "i32", (rows.symbol,), 1), PLACES
        index = f"{writer.define(context, place).text} & 7"
    else:
        index, size = rows.domain, rows.symbol
    target = new_view(writer, "InOut", dtype, (size, columns.symbol), bound=4)
    order = writer.expressions.pick(["relaxed", "acq_rel"])
    text = f"I.atomic.{action}({target.name}, index=({index}, {columns.domain}), value={value.text}, "
    writer.emit(context, f'{text}order="{order}")')


def counting_sort(writer: Writer, context: Context) -> None:
    """A histogram, its prefix sums, and their values looked up again."""
    free = free_axes(context)
    if context.ordered or len(free) != 1:
        return
    (axis,) = free
    writer.require(axis.symbol)
    value = writer.expressions.expression(context, "i32", context.shape, 2)
    keys = writer.define(context, Term(f"({value.text} & 7)", "i32", context.shape))
    counts, before = writer.fresh("counts"), writer.fresh("before")
    valid = writer.expressions.pick([f"{keys.text} >= 0", f"{keys.text} != 3"])
    writer.emit(context, f"{counts} = I.histogram({keys.text}, bins=8, valid={valid}, count_dtype=I.i32)")
    writer.emit(context, f"{before} = I.cumsum({counts}, axis=0, inclusive=False)")
    form = writer.expressions.pick(["looked up", "stored", "largest"])
    if form == "looked up":
        writer.define(context, Term(f"{before}[{keys.text}]", "i32", context.shape))
    elif form == "stored":
        variables, symbols = _fixed(context)
        target = new_view(writer, "Out", "i32", (*symbols, PLACES))
        writer.emit(context, f"{target.name}[{', '.join([*variables, ':'])}] = {before}")
    else:
        top, where = writer.fresh("v"), writer.fresh("v")
        writer.emit(context, f"{top}, {where} = I.arg_reduce.max({counts}, axis=0)")
        context.terms += [Term(top, "i32"), Term(f"I.cast({where}, I.i32)", "i32")]


def dropout(writer: Writer, context: Context) -> None:
    """Random numbers by coordinate decide what is kept; the counter is any of the forms."""
    free = free_axes(context)
    if not free and not context.fixed:
        return
    seed = next((term for term in writer.expressions.scalars if term.text.startswith("seed")), None)
    if seed is None:
        seed = Term(f"seed{len(writer.expressions.scalars)}", "u64")
        writer.expressions.scalars.append(seed)
    if len(free) == 2:
        rows, columns = free
        for axis in free:
            writer.require(axis.symbol)
        counter = f"I.indices({rows.domain})[:, None] * {columns.symbol} + I.indices({columns.domain})"
        shape = context.shape
    elif free:
        writer.require(free[0].symbol)
        counter, shape = f"I.indices({free[0].domain})", (free[0].symbol,)
    else:
        counter, shape = str(context.fixed[-1].variable), ()
    if len(free) > 2:
        return
    if writer.chance(0.3):
        counter = f"I.cast({counter}, I.u64)"
    limit = writer.expressions.pick(["0.5", "0.1", "0.9"])
    kept = f"(I.random.uniform({seed.text}, {counter}) < {limit})"
    writer.define(context, Term(kept, "bool", shape))


# -------------------------------------------------------------------------------------------------------------- buffers
def table_buffer(writer: Writer, context: Context) -> None:
    """A buffer of rank two, row after row from the row before."""
    if context.ordered or len(context.shape) > 1:
        return
    free = free_axes(context)
    dtype, name, step = writer.expressions.pick(["i32", "f32", "i64", "u8"]), writer.fresh("buffer"), writer.fresh("j")
    for axis in free:
        writer.require(axis.symbol)
    width = free[0].symbol if free else "4"
    column = writer.expressions.pick([free[0].domain, ":"]) if free else writer.expressions.pick("0123")
    zero = "1.0" if dtype in FLOATS else "1"
    writer.emit(context, f"{name} = I.buffer((4, {width}), I.{dtype}, init={zero})")
    count = writer.expressions.pick(["4", "3", "2"])
    writer.emit(context, f"for {step} in range(1, {count}):")
    inner = context.inner(context.axes, ordered=True)
    value = _number(writer, inner, dtype, context.shape)
    before = f"{name}[{step} - 1, {column}]"
    writer.emit(inner, f"{name}[{step}, {column}] = {before} {writer.expressions.pick('+-')} {value.text}")
    row = writer.expressions.pick(["0", "1", "2", "3", "-1"])
    writer.define(context, Term(f"{name}[{row}, {column}]", dtype, context.shape))
    if not free and writer.chance(0.4):
        function = writer.expressions.pick(["max", "sum"]) if dtype == "i32" else "max"
        writer.define(context, Term(f"I.reduce.{function}({name}[:, {column}], axis=0)", dtype))


def empty_buffer(writer: Writer, context: Context) -> None:
    """A buffer of truth values or numbers that is written whole before it is read."""
    if context.ordered or context.shape:
        return
    dtype, name = writer.expressions.pick(["bool", "i32", "f32", "f16"]), writer.fresh("buffer")
    writer.emit(context, f"{name} = I.buffer((4,), I.{dtype})")
    first = {"bool": "False", "i32": "0"}.get(dtype, "0.0")
    writer.emit(context, f"{name}[:] = {first}")
    place = writer.expressions.expression(context, "i32", (), 1)
    value = writer.expressions.expression(context, dtype, (), 2)
    writer.emit(context, writer.expressions.pick([
        f"{name}[{place.text} & 3] = {value.text}", f"I.store({name}, ({place.text} & 3,), {value.text})",
        f"{name}[2] = {value.text}",
    ]))  # fmt: skip
    if writer.chance(0.5):
        function = "any" if dtype == "bool" else "max"
        writer.define(context, Term(f"I.reduce.{function}({name}[:], axis=0)", dtype))
    else:
        writer.define(context, Term(f"I.mutable_load({name}, ({writer.expressions.pick('0123')},))", dtype))


# ------------------------------------------------------------------------------------------------------ points, scratch
def points_of_a_region(writer: Writer, context: Context) -> None:
    """Points of a part of an axis, or of every second coordinate, which update elements of their own."""
    free = free_axes(context)
    if context.ordered or len(free) != 1 or free[0].symbol.isdigit():
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, point, region = writer.expressions.pick(["f32", "i32", "u8"]), writer.fresh("p"), writer.fresh("region")
    symbol = axis.symbol
    text = writer.expressions.pick([
        f"{axis.domain}[I.minimum(1, {symbol}):]", f"{axis.domain}[:I.minimum(7, {symbol})]",
        f"I.domain(1, {symbol}, 2)", f"I.domain(0, {symbol} // 2)",
    ])  # fmt: skip
    writer.emit(context, f"{region} = {text}")
    writer.emit(context, f"for {point} in I.parallel({region}):")
    axes = tuple(replace(each, variable=point) if each == axis else each for each in context.axes)
    inner = context.inner(axes, parallel=True)
    target = new_view(writer, "InOut", dtype, tuple(each.symbol for each in axes), bound=4)
    place = ", ".join(str(each.variable) for each in axes)
    if writer.chance(0.3):
        writer.emit(inner, f"if {writer.expressions.expression(inner, 'bool', (), 2).text}:")
        writer.emit(replace(inner, depth=inner.depth + 1), "continue")
    value = _number(writer, inner, dtype, ())
    writer.emit(inner, f"{target.name}[{place}] {writer.expressions.pick(['=', '+=', '*='])} {value.text}")


def memory_as_scratch(writer: Writer, context: Context) -> None:
    """A view written in one loop and read in a later one."""
    free = free_axes(context)
    if context.ordered or len(free) != 1:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, first, second = writer.expressions.pick(["f32", "i32", "i64"]), writer.fresh("j"), writer.fresh("j")
    variables, symbols = _fixed(context)
    target = new_view(writer, writer.expressions.pick(["Out", "InOut"]), dtype, (*symbols, axis.symbol), bound=4)
    writer.emit(context, f"for {first} in range({axis.symbol}):")
    inner = context.inner((*context.fixed, Axis(axis.symbol, axis.domain, first)), ordered=True)
    inner.terms = [term for term in inner.terms if not term.shape]
    place = ", ".join([*variables, first])
    value = _number(writer, inner, dtype, ())
    writer.emit(inner, writer.expressions.pick([
        f"{target.name}[{place}] = {value.text}", f"I.store({target.name}, ({place},), {value.text})"
    ]))  # fmt: skip
    back = f"{axis.symbol} - 1 - {second}" if writer.chance(0.5) else second
    carry = writer.fresh("c")
    writer.emit(context, f"{carry} = I.cast(0, I.{dtype})" if dtype not in FLOATS else f"{carry} = I.cast(0.0, I.f32)")
    writer.emit(context, f"for {second} in range({axis.symbol}):")
    inner = context.inner((*context.fixed, Axis(axis.symbol, axis.domain, second)), ordered=True)
    read = writer.expressions.pick([f"{target.name}[{', '.join([*variables, back])}]",
                                    f"I.mutable_load({target.name}, ({', '.join([*variables, back])},))"])  # fmt: skip
    writer.emit(inner, f"{carry} = {read} - {carry}")
    context.terms.append(Term(carry, dtype))


def every_second(writer: Writer, context: Context) -> None:
    """Elements in pairs: even and odd places written by coordinates, or pairs rotated in place."""
    free = free_axes(context)
    if context.ordered or len(free) != 1 or not free[0].symbol.isdigit():
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16"])
    variables, symbols = _fixed(context)
    place = "".join(f"{each}, " for each in variables)
    target = new_view(writer, "InOut", dtype, (*symbols, "8"), bound=4)
    i = writer.fresh("i")
    writer.emit(context, f"{i} = I.indices(I.domain(0, 4))")
    even, odd = f"{target.name}[{place}2 * {i}]", f"{target.name}[{place}2 * {i} + 1]"
    first, second = writer.fresh("even"), writer.fresh("odd")
    writer.emit(context, f"{first} = {even}")
    writer.emit(context, f"{second} = {odd}")
    scale = writer.expressions.expression(context, dtype, (), 1).text
    writer.emit(context, f"{even} = {first} - {second} * {scale}")
    writer.emit(context, f"{odd} = {second} + {first} * {scale}")


def stencil(writer: Writer, context: Context) -> None:
    """Neighbours in one or two axes: of an interior domain, or guarded at the border."""
    free = free_axes(context)
    if context.ordered or not free or len(free) > 2 or any(axis.symbol.isdigit() for axis in free):
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16"])
    for axis in free:
        writer.require(axis.symbol)
    variables, symbols = _fixed(context)
    place = "".join(f"{each}, " for each in variables)
    source = new_view(writer, "In", dtype, (*symbols, *context.shape), bound=4)
    bound = 4 * 5 if dtype in FLOATS else None
    regions = [writer.fresh("inner") for _ in free]
    for axis, region in zip(free, regions, strict=True):
        writer.emit(context, f"{region} = I.domain(1, I.maximum({axis.symbol} - 1, 1))")
    reads = []
    for at in range(len(free)):
        for step in ("- 1", "+ 1"):
            items = [f"I.indices({region}) {step}" if at == other else region for other, region in enumerate(regions)]
            reads.append(f"{source.name}[{place}{', '.join(items)}]")
    total = f" {writer.expressions.pick('+-')} ".join([*reads, f"{source.name}[{place}{', '.join(regions)}]"])
    target = new_view(writer, "InOut", dtype, (*symbols, *context.shape), bound=4)
    writer.emit(context, f"{target.name}[{place}{', '.join(regions)}] = {total}")
    if writer.chance(0.3):
        text = f"I.reduce.max({total}, axis={'0' if len(free) == 1 else '(0, 1)'})"
        writer.define(context, Term(text, dtype, (), bound))


# --------------------------------------------------------------------------------------------------------------- ragged
def ragged_products(writer: Writer, context: Context) -> None:
    """Rows of a group times the group's matrix, normalised rows, and groups of two axes."""
    free = free_axes(context)
    if context.fixed or context.ordered or len(free) != 2 or any(axis.symbol.isdigit() for axis in free):
        return
    rows, columns = free
    for axis in free:
        writer.require(axis.symbol)
    dtype, groups, group = writer.expressions.pick(["f32", "f16"]), writer.fresh("rows"), writer.fresh("g")
    offsets = new_view(writer, "In", "i32", ("F",))
    offsets.name = f"off{offsets.name[1:]}_{rows.symbol}"
    ragged = f"I.ragged(outer=I.domain(0, F - 1), members={rows.domain}, offsets={offsets.name})"
    writer.emit(context, f"{groups} = {ragged}")
    writer.emit(context, f"for {group} in I.parallel({groups}.outer):")
    inner = replace(context, axes=(), terms=[], depth=context.depth + 1, parallel=True)
    source = new_view(writer, "In", dtype, (rows.symbol, columns.symbol), bound=4)
    part = writer.fresh("part")
    writer.emit(inner, f"{part} = {groups}[{group}]")
    column = writer.expressions.pick([":", columns.domain])
    for form in writer.expressions.random.sample(["product", "transposed", "sum", "centred", "points"], 2):
        _of_group(writer, inner, form, (source, part, group, column), (rows, columns))


def _of_group(
    writer: Writer, context: Context, form: str, names: tuple[View, str, str, str], axes: tuple[Axis, Axis]
) -> None:
    source, part, group, column = names
    rows, columns = axes
    tile = f"{source.name}[{part}, {column}]"
    if form == "product":
        weights = new_view(writer, "In", source.dtype, ("F", columns.symbol, "8"), bound=4)
        target = new_view(writer, "InOut", "f32", (rows.symbol, "8"), bound=4)
        call = f"I.matmul({tile}, {weights.name}[{group}, {column}, :], acc_dtype=I.f32)"
        writer.emit(context, f"{target.name}[{part}, :] = {call}")
    elif form == "transposed":
        other = new_view(writer, "In", source.dtype, (rows.symbol, "8"), bound=4)
        target = new_view(writer, "InOut", "f32", ("F", columns.symbol, "8"), bound=4)
        call = f"I.matmul({tile}, {other.name}[{part}, :], transpose_lhs=True, acc_dtype=I.f32)"
        writer.emit(context, f"{target.name}[{group}, :, :] = {call}")
    elif form == "sum":
        target = new_view(writer, "InOut", "f32", ("F", columns.symbol), bound=4)
        value = f"I.cast({tile}, I.f32)"
        writer.emit(context, f"{target.name}[{group}, :] = I.reduce.sum({value}, axis=0)")
    elif form == "centred":
        target = new_view(writer, "InOut", source.dtype, (rows.symbol, columns.symbol), bound=4)
        top = writer.fresh("top")
        axis = writer.expressions.pick("01")
        spread = f"{top}[None, :]" if axis == "0" else f"{top}[:, None]"
        writer.emit(context, f"{top} = I.reduce.max({tile}, axis={axis})")
        writer.emit(context, f"{target.name}[{part}, {column}] = {tile} - {spread}")
    else:
        target = new_view(writer, "InOut", source.dtype, (rows.symbol,), bound=4)
        step = writer.fresh("t")
        writer.emit(context, f"for {step} in I.parallel({part}):")
        inner = replace(context, depth=context.depth + 1)
        writer.emit(inner, f"{target.name}[{step}] = I.reduce.max({source.name}[{step}, :], axis=0)")


# ------------------------------------------------------------------------------------------------------------- carries
def region_carry(writer: Writer, context: Context) -> None:
    """A tensor carry whose extent is a part of an axis."""
    free = free_axes(context)
    if context.ordered or len(free) != 1 or free[0].symbol.isdigit() or any(a.symbol == "K" for a in context.axes):
        return
    (axis,) = free
    writer.require(axis.symbol)
    writer.require("K")
    dtype = writer.expressions.pick(["f32", "i32"])
    region, carry, step = (writer.fresh(each) for each in ("region", "c", "j"))
    first = writer.expressions.scalar("index").text
    low = f"I.minimum(I.maximum({first}, 0), {axis.symbol})"
    writer.emit(context, f"{region} = {axis.domain}[{low}:I.minimum({low} + 5, {axis.symbol})]")
    writer.emit(context, f"{carry} = I.zeros(({region},), I.{dtype})")
    source = new_view(writer, "In", dtype, (axis.symbol, "K"), bound=4)
    writer.emit(context, f"for {step} in range(K):")
    inner = context.inner(context.axes, ordered=True)
    writer.emit(inner, f"{carry} = {source.name}[{region}, {step}] - {carry}")
    variables, symbols = _fixed(context)
    target = new_view(writer, "InOut", dtype, (*symbols, axis.symbol), bound=4)
    writer.emit(context, f"{target.name}[{', '.join([*variables, region])}] = {carry}")


def matrix_states(writer: Writer, context: Context) -> None:
    """A scan whose state is a matrix, or a region scan that carries one: products of integers."""
    if len(context.shape) != 2 or context.ordered or any(axis.symbol in ("K", "D") for axis in context.axes):
        return
    rows, columns = free_axes(context)
    for axis in (rows, columns):
        writer.require(axis.symbol)
    writer.require("K")
    left, right = (new_view(writer, "In", "f32", ("K", axis.symbol), bound=4) for axis in (rows, columns))
    zeros = f"I.zeros(({rows.symbol}, {columns.symbol}), I.f32)"
    if writer.chance(0.5):
        combine = writer.helper("a, b", "return I.record(a=a.a * b.a, m=a.m * b.a + b.m)")
        products = f"{left.name}[:, :][:, :, None] * {right.name}[:, :][:, None, :]"
        value = f"I.record(a=I.full((K,), -1.0, dtype=I.f32), m={products})"
        name = writer.fresh("states")
        writer.emit(context, f"{name} = I.scan({value}, axis=0,")
        writer.emit(context, f"    identity=I.record(a=1.0, m={zeros}), combine={combine}, inclusive=True)")
        text = f"I.reduce.max({name}.m, axis=0)"
        writer.define(context, Term(text, "f32", context.shape, 16 * LARGEST_EXTENT))
        return
    summary = writer.helper("l, r", "return I.matmul(l, r, transpose_lhs=True, acc_dtype=I.f32)")
    emit = writer.helper("l, r, state", "return I.matmul(l, state, acc_dtype=I.f32)")
    apply = writer.helper("summary, state", "return state + summary")
    out, last = writer.fresh("v"), writer.fresh("v")
    source = f"({left.name}[k, :], {right.name}[k, :])"
    writer.emit(context, f"{out}, {last} = I.region_scan(source={source}, axis=0, summarize={summary}, combine=I.add,")
    writer.emit(context, f"    identity={zeros}, initial_state={zeros}, apply={apply}, emit={emit})")
    context.terms.append(Term(last, "f32", context.shape, 16 * LARGEST_EXTENT))


PLACE_STAGES: tuple[Stage, ...] = (
    row_gather, row_scatter, tile_update, counting_sort, dropout, table_buffer, empty_buffer, points_of_a_region,
    memory_as_scratch, every_second, stencil, ragged_products, region_carry, matrix_states,
)  # fmt: skip
