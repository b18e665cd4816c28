"""Reads and writes at computed places for random programs: scatters, atomics, ragged rows, regions, histograms, Philox.

What points of one launch do to the same element is independent of their order; what a statement leaves alone is part
of an InOut view, so that every element is defined.
"""

from __future__ import annotations

from random_expressions import FLOATS, Axis, Context, Shape, Term, View
from random_stages import LARGEST_EXTENT, Stage, Writer

from intent.records import replace

PLACES = 8  # extent of what scatters and atomics write to
WORDS = ("i32", "i32", "u32", "i64", "u64", "f32", "f64", "i8", "u8", "i16", "f16", "bf16")


# -------------------------------------------------------------------------------------------------------------- helpers
def _view(writer: Writer, direction: str, dtype: str, shape: Shape, prefix: str = "", bound: int | None = None) -> View:
    views = writer.expressions.views
    name = f"{prefix or {'In': 'x', 'Out': 'y', 'InOut': 'z'}[direction]}{len(views)}"
    views.append(View(name, dtype, shape, direction, bound, readable=False))
    return views[-1]


def _free(context: Context) -> list[Axis]:
    return [axis for axis in context.axes if axis.variable is None]


def _fixed(context: Context) -> tuple[list[str], Shape]:
    """The loop variables in scope and their symbols."""
    return [str(axis.variable) for axis in context.fixed], tuple(axis.symbol for axis in context.fixed)


def _table(writer: Writer, kind: str, symbol: str, axis: Axis) -> str:
    """An index table along an axis, at the axis' coordinates: `perm` is a permutation, `at` holds anything."""
    dtype = writer.expressions.pick(["i32", "i32", "i64", "index"])
    view = _view(writer, "In", dtype, (symbol,), kind)
    item = axis.variable or axis.domain
    return f"{view.name}[{item}]"


def _number(writer: Writer, context: Context, dtype: str, shape: Shape) -> Term:
    if dtype in FLOATS:
        return writer.expressions.bounded(context, dtype, shape, 2, limit=8)
    return writer.expressions.expression(context, dtype, shape, 2)


def _place(writer: Writer, context: Context, shape: Shape) -> str:
    """Somewhere among the places, from a table or from a value."""
    value = writer.expressions.expression(context, "i32", shape, 1)
    return f"({value.text} & {PLACES - 1})"


# ------------------------------------------------------------------------------------------------- scatters and atomics
def scatter_reduce(writer: Writer, context: Context) -> None:
    """Values merge where they meet."""
    free = _free(context)
    if context.ordered or len(free) > 2:
        return
    dtype = writer.expressions.pick(WORDS)
    shape = tuple(axis.symbol for axis in free)
    rows = writer.chance(0.5) and len(free) == 2  # whole rows, or single elements
    combine = _combine(writer, dtype)
    target = _view(writer, "InOut", dtype, (str(PLACES), shape[1]) if rows else (str(PLACES),), bound=4)
    if rows:
        index = f"({_place(writer, context, shape[:1])}, {writer.expressions.pick(['slice(None)', free[1].domain])})"
    else:
        index = f"({_place(writer, context, shape)},)"
    value = _number(writer, context, dtype, shape)
    writer.emit(context, f"I.scatter_reduce({target.name}, {index}, {value.text}, {combine})")


def _combine(writer: Writer, dtype: str) -> str:
    choices = ["I.add", "I.add", "I.maximum", "I.minimum"]
    if dtype not in FLOATS:
        choices += [writer.helper("a, b", f"return a {operator} b") for operator in writer.expressions.pick("&|^+")]
    if dtype in ("f16", "bf16"):  # sums of many elements would round
        choices = ["I.maximum", "I.minimum"]
    return writer.expressions.pick(choices)


def atomic_update(writer: Writer, context: Context) -> None:
    """An update whose old value nobody needs, at places that repeat."""
    if context.ordered or len(_free(context)) > 2:
        return
    dtype = writer.expressions.pick(WORDS)
    actions = ["max", "min"] if dtype in ("f16", "bf16") else ["add", "add", "max", "min"]
    actions += [] if dtype in FLOATS else ["and_", "or_", "xor"]
    shape = context.shape
    target = _view(writer, "InOut", dtype, (str(PLACES),), bound=4)
    value = _number(writer, context, dtype, shape)
    order = writer.expressions.pick(["relaxed", "acquire", "release", "acq_rel"])
    action = writer.expressions.pick(actions)
    place = _place(writer, context, shape)
    writer.emit(context, f'I.atomic.{action}({target.name}, ({place},), {value.text}, order="{order}")')


def atomic_of_own_element(writer: Writer, context: Context) -> None:
    """Points that update elements of their own, and keep what was there."""
    if context.ordered or not context.fixed or _free(context):
        return
    dtype = writer.expressions.pick(WORDS)
    variables, symbols = _fixed(context)
    target = _view(writer, "InOut", dtype, symbols, bound=4)
    value, name = _number(writer, context, dtype, ()), writer.fresh("old")
    index = f"({', '.join(variables)},)"
    order = writer.expressions.pick(["relaxed", "acq_rel"])
    action = writer.expressions.pick(["exchange", "add", "max", "compare_exchange", "load", "store"])
    if action == "store":
        writer.emit(context, f'I.atomic.store({target.name}, {index}, {value.text}, order="release")')
        return
    if action == "load":
        writer.define(context, Term(f'I.atomic.load({target.name}, {index}, order="acquire")', dtype))
        return
    if action == "compare_exchange":
        expected = f"I.cast(1, I.{dtype})"
        writer.emit(
            context, f'{name} = I.atomic.{action}({target.name}, {index}, {expected}, {value.text}, order="{order}")'
        )
        context.terms += [Term(f"{name}.old_value", dtype), Term(f"{name}.success", "bool")]
    else:
        writer.emit(context, f'{name} = I.atomic.{action}({target.name}, {index}, {value.text}, order="{order}")')
        context.terms.append(Term(name, dtype))


def permuted_store(writer: Writer, context: Context) -> None:
    """Every element to a place of its own: a permutation, as a scatter or a subscript."""
    free = _free(context)
    if context.ordered or len(free) not in (1, 2):
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8", "i64", "bool", "bf16"])
    axis, others = free[0], free[1:]
    writer.require(axis.symbol)
    table = _table(writer, "perm", axis.symbol, axis)
    variables, symbols = _fixed(context)
    value = writer.expressions.expression(context, dtype, context.shape, 2)
    target = _view(writer, "Out", dtype, (*symbols, *context.shape), bound=value.bound)
    index = ", ".join([*variables, table, *(other.domain for other in others)])
    if writer.chance(0.5):
        writer.emit(context, f"I.scatter_unique({target.name}, ({index},), {value.text})")
    else:
        writer.emit(context, f"{target.name}[{index}] = {value.text}")


def joint_gather(writer: Writer, context: Context) -> None:
    """Index tensors of two axes in one subscript, beside each other or paired."""
    free = _free(context)
    if len(free) != 2:
        return
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8"])
    first, second = free
    for axis in free:
        writer.require(axis.symbol)
    rows = _table(writer, "perm", first.symbol, first)
    columns = f"I.cast({_table(writer, 'at', second.symbol, second)}, I.index) % {second.symbol}"
    source = _view(writer, "In", dtype, (first.symbol, second.symbol), bound=4)
    if writer.chance(0.7):
        text = f"{source.name}[I.cast({rows}, I.index)[:, None], ({columns})[None, :]]"
        writer.define(context, Term(text, dtype, context.shape, 4 if dtype in FLOATS else None))
    else:
        at = f"I.indices({first.domain})"
        text = f"I.gather({source.name}, ({rows}, {at}), valid={at} < {second.symbol})"
        writer.define(context, Term(text, dtype, (first.symbol,), 4 if dtype in FLOATS else None))


def promised_bounds(writer: Writer, context: Context) -> None:
    """A scalar place that the author promises to be inside."""
    if not context.fixed:
        return
    axis = writer.expressions.random.choice(context.fixed)
    dtype, name = writer.expressions.pick(["f32", "i32"]), writer.fresh("place")
    value = writer.expressions.expression(context, "i32", (), 1)
    source = _view(writer, "In", dtype, (axis.symbol,), bound=4)
    writer.emit(context, f"{name} = I.cast({value.text}, I.index) % {axis.symbol}")
    writer.emit(context, f"I.assume_in_bounds({name}, {source.name}, axis=0)")
    writer.define(context, Term(f"{source.name}[{name}]", dtype, (), 4 if dtype in FLOATS else None))


# -------------------------------------------------------------------------------------------------- counting and random
def histogram(writer: Writer, context: Context) -> None:
    free = _free(context)
    if not free or context.ordered:
        return
    dtype = writer.expressions.pick(["i32", "u8", "i64", "i8"])
    symbol = free[-1].symbol
    value = writer.define(context, writer.expressions.expression(context, dtype, (symbol,), 2))
    count = writer.expressions.pick(["i32", "i64", "u32"])
    valid = f"({value.text} >= 0) & ({value.text} < {PLACES})"
    if writer.chance(0.5):
        valid += f" & {writer.expressions.expression(context, 'bool', (symbol,), 1).text}"
    counts = writer.fresh("v")
    writer.emit(context, f"{counts} = I.histogram({value.text}, bins={PLACES}, valid={valid}, count_dtype=I.{count})")
    if writer.chance(0.4):
        writer.define(context, Term(f"I.reduce.max({counts}, axis=0)", count))
        return
    variables, symbols = _fixed(context)
    target = _view(writer, "Out", count, (*symbols, str(PLACES)))
    writer.emit(context, f"{target.name}[{', '.join([*variables, ':'])}] = {counts}")


def philox(writer: Writer, context: Context) -> None:
    """Random numbers by coordinate."""
    free = _free(context)
    seed = next((term for term in writer.expressions.scalars if term.text.startswith("seed")), None)
    if seed is None:
        seed = Term(f"seed{len(writer.expressions.scalars)}", "u64")
        writer.expressions.scalars.append(seed)
    parts = [f"{axis.variable}" for axis in context.fixed]
    if free:
        writer.require(free[-1].symbol)
        parts.append(f"I.indices({free[-1].domain})")
    if not parts:
        return
    counter = " * 1000003 + ".join(parts) + writer.expressions.pick([" + 0", " + 4294967296", " * 3"])
    shape = (free[-1].symbol,) if free else ()
    if writer.chance(0.5):
        writer.define(context, Term(f"I.random.uniform({seed.text}, {counter}, dtype=I.f32)", "f32", shape))
    else:
        writer.define(context, Term(f"I.random.bits({seed.text}, {counter})", "u32", shape))


# -------------------------------------------------------------------------------------------------------------- regions
def part_of_an_axis(writer: Writer, context: Context) -> None:
    """A store to the coordinates between two runtime bounds, or to every second or third one."""
    free = _free(context)
    if len(free) != 1 or free[0].symbol.isdigit() or context.ordered:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, region = writer.expressions.pick(["f32", "i32", "f16", "u8"]), writer.fresh("region")
    form = writer.expressions.pick(["middle", "below", "above", "step"])
    low, high = (
        f"I.minimum({writer.expressions.pick(each)}, {axis.symbol})" for each in (("0", "1", "2"), ("3", "7", "20"))
    )
    text = {
        "middle": f"{axis.domain}[{low}:{high}]", "below": f"{axis.domain}[:{high}]", "above": f"{axis.domain}[{low}:]",
        "step": f"I.domain({writer.expressions.pick('012')}, {axis.symbol}, {writer.expressions.pick('234')})",
    }[form]  # fmt: skip
    writer.emit(context, f"{region} = {text}")
    variables, symbols = _fixed(context)
    target = _view(writer, "InOut", dtype, (*symbols, axis.symbol), bound=4)
    inner = replace(
        context, axes=(*context.fixed, Axis(axis.symbol, region)), terms=[t for t in context.terms if not t.shape]
    )
    value = _of_region(writer, inner, dtype, axis.symbol, region)
    index = ", ".join([*variables, region])
    writer.emit(context, f"{target.name}[{index}] {writer.expressions.pick(['=', '+='])} {value}")
    if writer.chance(0.4):
        zero = f"I.cast(I.indices({region}), I.i32)"
        writer.define(context, Term(f"I.reduce.max({zero}, axis=0)", "i32"))
        if form != "step":
            writer.define(context, Term(f"I.cast(I.end({region}), I.i32)", "i32"))


def _of_region(writer: Writer, context: Context, dtype: str, symbol: str, region: str) -> str:
    """Values at the region's coordinates: reads, coordinates and scalars."""
    source = _view(writer, "In", dtype, (symbol,), bound=4)
    scalar = writer.expressions.expression(context, dtype, (), 1).text
    texts = [
        f"{source.name}[{region}]",
        f"I.cast(I.indices({region}), I.{dtype})",
        f"{source.name}[{region}] * {scalar}",
    ]
    first, second = (writer.expressions.pick(texts) for _ in range(2))
    return f"{first} {writer.expressions.pick('+-')} {second}"


def loop_over_a_region(writer: Writer, context: Context) -> None:
    """An ordered loop with a step, over a part of an axis, or with its own count beside it."""
    free = _free(context)
    if context.ordered or not free or free[0].symbol.isdigit():
        return
    axis = free[0]
    writer.require(axis.symbol)
    others = tuple(each for each in context.axes if each is not axis)
    dtype, carry, step = writer.expressions.pick(["f32", "i32", "i64"]), writer.fresh("c"), writer.fresh("j")
    writer.emit(context, f"{carry} = {writer.expressions.expression(context, dtype, (), 1).text}")
    low, high = f"I.minimum(1, {axis.symbol})", f"I.minimum(9, {axis.symbol})"
    form = writer.expressions.pick(["range", "region", "enumerate", "stepped"])
    count, pick = writer.fresh("i"), writer.expressions.pick
    writer.emit(context, {
        "range": f"for {step} in range({pick('01')}, {axis.symbol}, {pick('23')}):",
        "region": f"for {step} in {axis.domain}[{low}:{high}]:",
        "enumerate": f"for {count}, {step} in enumerate({axis.domain}[{low}:]):",
        "stepped": f"for {step} in I.domain(0, {axis.symbol}, 2):",
    }[form])  # fmt: skip
    fixed = tuple(each for each in others if each.variable is not None)
    inner = context.inner((*fixed, Axis(axis.symbol, axis.domain, step)), ordered=True)
    inner.terms = [term for term in inner.terms if not term.shape]
    inner.terms.append(Term(carry, dtype))
    if form == "enumerate":
        inner.terms.append(Term(f"I.cast({count}, I.i32)", "i32"))
    writer.emit(inner, f"{carry} = {writer.expressions.expression(inner, dtype, (), 2).text}")
    context.terms.append(Term(carry, dtype))


def ragged_rows(writer: Writer, context: Context) -> None:
    """Groups of rows of their own lengths: maps, reductions, loops and members of each."""
    free = _free(context)
    if context.fixed or context.ordered or not free or free[0].symbol.isdigit():
        return
    axis = free[0]
    writer.require(axis.symbol)
    dtype, rows, group = writer.expressions.pick(["f32", "i32", "f16"]), writer.fresh("rows"), writer.fresh("g")
    offsets = _view(writer, "In", "i32", ("F",), "off")
    offsets.name += f"_{axis.symbol}"
    mapped = writer.chance(0.4)
    option = ""
    if mapped:
        option = f", indices={_view(writer, 'In', 'i32', (axis.symbol,), 'perm').name}"
    writer.emit(context, f"{rows} = I.ragged(I.domain(0, F - 1), {axis.domain}, {offsets.name}{option})")
    writer.emit(context, f"for {group} in I.parallel({rows}.outer):")
    inner = replace(
        context, axes=(), terms=[t for t in context.terms if not t.shape], depth=context.depth + 1, parallel=True
    )
    source = _view(writer, "In", dtype, (axis.symbol,), bound=4)
    part = f"{rows}[{group}]"
    zero = "0.0" if dtype in FLOATS else "0"
    for form in writer.expressions.random.sample(["map", "sum", "loop", "members"], 3):
        if form == "map":
            target = _view(writer, "InOut", dtype, (axis.symbol,), bound=4)
            writer.emit(inner, f"{target.name}[{part}] = {_of_region(writer, inner, dtype, axis.symbol, part)}")
        elif form == "sum":
            _group_result(writer, inner, dtype, group, f"I.reduce.max({source.name}[{part}], axis=0)")
        elif form == "members" and mapped:
            text = f"I.reduce.max({source.name}[I.members({part})], axis=0)"
            _group_result(writer, inner, dtype, group, text)
        else:
            total, step = writer.fresh("c"), writer.fresh("t")
            writer.emit(inner, f"{total} = I.cast({zero}, I.{dtype})")
            writer.emit(inner, f"for {step} in {part}:")
            writer.emit(replace(inner, depth=inner.depth + 1), f"{total} = {source.name}[{step}] - {total}")
            _group_result(writer, inner, dtype, group, total)


def _group_result(writer: Writer, context: Context, dtype: str, group: str, text: str) -> None:
    """One element a group; the last of the offsets has no group, so that its element is kept."""
    target = _view(writer, "InOut", dtype, ("F",), bound=4)
    writer.emit(context, f"{target.name}[{group}] = {text}")


# ------------------------------------------------------------------------------------------------------------- in place
def in_place(writer: Writer, context: Context) -> None:
    """An InOut view that is read at other places than it is written: reads are snapshots."""
    free = _free(context)
    if context.parallel or context.ordered or len(free) != 1:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8"])
    target = _view(writer, "InOut", dtype, (axis.symbol,), bound=4)
    at = f"I.indices({axis.domain})"
    other = writer.expressions.pick([
        f"{target.name}[{axis.symbol} - 1 - {at}]", f"{target.name}[({at} + 1) % {axis.symbol}]",
        f"I.gather({target.name}, ({at} - 1,), valid={at} >= 1)",
    ])  # fmt: skip
    value = _number(writer, context, dtype, (axis.symbol,)).text
    if writer.chance(0.5):
        writer.emit(context, f"{target.name}[{axis.domain}] = {other} + {value}")
    else:
        writer.emit(context, f"{target.name}[{axis.domain}] = {value}")
        writer.output(context, Term(other, dtype, (axis.symbol,), LARGEST_EXTENT))


def recurrence_in_memory(writer: Writer, context: Context) -> None:
    """A loop that reads what its iteration before wrote."""
    free = _free(context)
    if context.ordered or len(free) != 1:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, step = writer.expressions.pick(["f32", "i32", "i64"]), writer.fresh("j")
    variables, symbols = _fixed(context)
    target = _view(writer, "InOut", dtype, (*symbols, axis.symbol), bound=4)
    writer.emit(context, f"for {step} in range(1, {axis.symbol}):")
    inner = context.inner((*context.fixed, Axis(axis.symbol, axis.domain, step)), ordered=True)
    inner.terms = [term for term in inner.terms if not term.shape]
    before, here = (f"{target.name}[{', '.join([*variables, place])}]" for place in (f"{step} - 1", step))
    value = _number(writer, inner, dtype, ()).text
    writer.emit(
        inner,
        f"{here} = {here} - {before} + {value}" if writer.chance(0.5) else f"{here} = I.maximum({before}, {value})",
    )


def scratch_in_memory(writer: Writer, context: Context) -> None:
    """A loop writes an InOut view, and a later one reads it from the other end."""
    free = _free(context)
    if context.ordered or len(free) != 1:
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype, written, found = writer.expressions.pick(["f32", "i32", "u8"]), writer.fresh("j"), writer.fresh("v")
    variables, symbols = _fixed(context)
    target = _view(writer, "InOut", dtype, (*symbols, axis.symbol), bound=4)
    writer.emit(context, f"for {written} in {writer.expressions.pick([axis.domain, f'range({axis.symbol})'])}:")
    inner = context.inner((*context.fixed, Axis(axis.symbol, axis.domain, written)), ordered=True)
    inner.terms = [term for term in inner.terms if not term.shape]
    value = _number(writer, inner, dtype, ()).text
    writer.emit(inner, f"{target.name}[{', '.join([*variables, written])}] = {value}")
    start = writer.expressions.bounded(context, dtype, ()).text if dtype in FLOATS else "0"
    writer.emit(context, f"{found} = I.cast({start}, I.{dtype})")
    read = writer.fresh("j")
    writer.emit(context, f"for {read} in range({axis.symbol}):")
    place = ", ".join([*variables, f"{axis.symbol} - 1 - {read}"])
    writer.emit(inner, f"{found} = I.maximum({found}, {target.name}[{place}])")
    context.terms.append(Term(found, dtype))


def one_allocation(writer: Writer, context: Context) -> None:
    """Two views of the same memory: what is written through one is read through the other."""
    free = _free(context)
    if context.parallel or context.ordered or len(free) != 1 or writer.chance(0.6):
        return
    (axis,) = free
    writer.require(axis.symbol)
    dtype = writer.expressions.pick(["f32", "i32", "f16", "u8"])
    group = writer.fresh("pool")
    source = _view(writer, "In", dtype, (axis.symbol,), bound=4)
    target = _view(writer, "InOut", dtype, (axis.symbol,), bound=4)
    source.alias = target.alias = group
    at = f"I.indices({axis.domain})"
    form = writer.expressions.pick(["before", "before", "before", "after", "both"])
    if form != "after":
        here = f"{source.name}[{axis.domain}]"
        before = writer.expressions.pick([here, here, f"{source.name}[{axis.symbol} - 1 - {at}]"])
        writer.emit(context, f"{target.name}[{axis.domain}] = {before} + {before}")
    else:
        writer.emit(context, f"{target.name}[:] = {_number(writer, context, dtype, (axis.symbol,)).text}")
    if form != "before":
        after = writer.expressions.pick([f"{source.name}[{axis.domain}]", f"{source.name}[{axis.symbol} - 1 - {at}]"])
        writer.output(context, Term(after, dtype, (axis.symbol,)))


MEMORY_STAGES: tuple[Stage, ...] = (
    scatter_reduce, atomic_update, atomic_of_own_element, atomic_of_own_element, permuted_store, joint_gather,
    promised_bounds, histogram, philox, part_of_an_axis, loop_over_a_region, ragged_rows, in_place,
    recurrence_in_memory, scratch_in_memory, one_allocation,
)  # fmt: skip
