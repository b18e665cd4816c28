"""Contractions of every form for random programs: integer-valued operands, so that every order of adding is exact."""

from __future__ import annotations

from random_expressions import FLOATS, LARGEST_SUM, Axis, Context, Term, View
from random_stages import LARGEST_EXTENT, Stage, Writer

from intent.records import replace

ACCUMULATORS = {
    "f32": ("f32", "f32", "f64"), "f16": ("f32", "f32", "f64"), "bf16": ("f32",), "f64": ("f64",),
    "i8": ("i32", "i32", "i64"), "i32": ("i32", "i64"), "u8": ("u32",), "i64": ("i64",), "i16": ("i32",),
}  # fmt: skip
DTYPES = ("f32", "f16", "bf16", "f64", "i8", "i32", "u8", "f16", "f32", "i16")


def _acc(writer: Writer, dtype: str) -> str:
    return writer.expressions.random.choice(ACCUMULATORS[dtype])


def _permutation(writer: Writer, items: list[Axis]) -> list[Axis]:
    if writer.chance(0.5):
        writer.expressions.random.shuffle(items)
    return items


def _operand(writer: Writer, context: Context, dtype: str, axes: list[Axis]) -> Term:
    inner = replace(context, axes=(*context.fixed, *axes), terms=list(context.terms))
    depth = writer.expressions.random.choice([0, 0, 1])
    if dtype in FLOATS:
        return writer.expressions.bounded(inner, dtype, inner.shape, depth, limit=16)
    value = writer.expressions.expression(inner, dtype, inner.shape, depth)
    return replace(
        value, text=f"({value.text} & 31)"
    )  # the interpreter cannot make a scalar of a sum that wraps around


def _bound(lhs: Term, rhs: Term, pairs: int = 1) -> int | None:
    if lhs.bound is None or rhs.bound is None:
        return None
    bound = lhs.bound * rhs.bound * LARGEST_EXTENT**pairs
    return bound if bound <= LARGEST_SUM * 8 else None


def _rounds(lhs: Term, dtype: str, bound: int | None) -> bool:
    """Whether the order of adding could show."""
    return lhs.dtype in ("f32", "f16", "bf16", "f64") and bound is None


def contraction(writer: Writer, context: Context) -> None:
    """Any partition of the context's axes into rows, columns and batch, over one or two more axes."""
    free = [axis for axis in context.axes if axis.variable is None]
    extra = [
        axis for axis in (Axis("K", "k"), Axis("D", "d")) if all(each.symbol != axis.symbol for each in context.axes)
    ]
    extra = extra[: writer.expressions.random.choice([1, 1, 2])]
    if not extra or len(free) > 3 or context.ordered:
        return
    dtype = writer.expressions.pick(DTYPES)
    sides = [writer.expressions.pick(["lhs", "rhs", "batch" if len(free) > 1 else "lhs"]) for _ in free]
    batch = [axis for axis, side in zip(free, sides, strict=True) if side == "batch"]
    lhs_axes = _permutation(writer, [*(a for a, s in zip(free, sides, strict=True) if s == "lhs"), *batch, *extra])
    rhs_axes = _permutation(writer, [*(a for a, s in zip(free, sides, strict=True) if s == "rhs"), *batch, *extra])
    if len(lhs_axes) > 4 or len(rhs_axes) > 4:
        return
    lhs, rhs = _operand(writer, context, dtype, lhs_axes), _operand(writer, context, dtype, rhs_axes)
    bound = _bound(lhs, rhs, len(extra))
    if _rounds(lhs, dtype, bound):
        return
    pairs = {name: "".join(f"({lhs_axes.index(a)}, {rhs_axes.index(a)}), " for a in axes)
             for name, axes in (("reduce", extra), ("batch", batch))}  # fmt: skip
    acc = _acc(writer, dtype)
    options = f", batch=({pairs['batch']})" if batch else ""
    text = f"I.contract({lhs.text}, {rhs.text}, reduce=({pairs['reduce']}){options}, acc_dtype=I.{acc})"
    result = [a.symbol for a in lhs_axes if a not in extra] + [a.symbol for a in rhs_axes if a not in (*extra, *batch)]
    if not result:
        text += "[()]"
    _finish(writer, context, Term(text, acc, tuple(result), bound))


def _finish(writer: Writer, context: Context, term: Term) -> None:
    """Transposed to the order of the context, and perhaps with something added."""
    wanted = tuple(symbol for symbol in context.shape if symbol in term.shape)
    if wanted != term.shape:
        permutation = ", ".join(str(term.shape.index(symbol)) for symbol in wanted)
        term = replace(term, text=f"I.transpose({term.text}, ({permutation}))", shape=wanted)
    named = writer.define(context, term)
    if writer.chance(0.4):
        other = writer.expressions.bounded(context, term.dtype, wanted, 1, limit=64)
        bound = None if term.bound is None or other.bound is None else term.bound + other.bound
        writer.define(context, Term(f"{named.text} + {other.text}", term.dtype, wanted, bound))


def products_of_every_dtype(writer: Writer, context: Context) -> None:
    """matmul, matvec, vecmat with their transposed forms."""
    if len(context.shape) not in (1, 2) or context.ordered or any(a.symbol == "K" for a in context.axes):
        return
    dtype = writer.expressions.pick(DTYPES)
    acc, k = _acc(writer, dtype), Axis("K", "k")
    free = [axis for axis in context.axes if axis.variable is None]
    flip, other = writer.chance(0.4), writer.chance(0.4)
    if len(free) == 2:
        rows, columns = free
        lhs = _operand(writer, context, dtype, [k, rows] if flip else [rows, k])
        rhs = _operand(writer, context, dtype, [columns, k] if other else [k, columns])
        options = (", transpose_lhs=True" if flip else "") + (", transpose_rhs=True" if other else "")
        text = f"I.matmul({lhs.text}, {rhs.text}{options}, acc_dtype=I.{acc})"
    else:
        vector = _operand(writer, context, dtype, [k])
        matrix = writer.expressions.pick(["matvec", "vecmat"])
        straight = [free[0], k] if (matrix == "matvec") != flip else [k, free[0]]
        lhs, rhs = _operand(writer, context, dtype, straight), vector
        first, second = (lhs, rhs) if matrix == "matvec" else (rhs, lhs)
        option = ", transpose=True" if flip else ""
        text = f"I.{matrix}({first.text}, {second.text}{option}, acc_dtype=I.{acc})"
    bound = _bound(lhs, rhs)
    if not _rounds(lhs, dtype, bound):
        _finish(writer, context, Term(text, acc, context.shape, bound))


def batched_product(writer: Writer, context: Context) -> None:
    """Three free axes: a batch of products, one operand perhaps the same for all of it."""
    free = [axis for axis in context.axes if axis.variable is None]
    if len(free) != 3 or context.ordered:
        return
    batch, rows, columns = free
    dtype, k = writer.expressions.pick(["f32", "f16", "i8"]), Axis("K", "k")
    lhs = _operand(writer, context, dtype, [batch, rows, k])
    rhs = _operand(writer, context, dtype, [k, columns] if writer.chance(0.4) else [batch, k, columns])
    acc, bound = _acc(writer, dtype), _bound(lhs, rhs)
    if not _rounds(lhs, dtype, bound):
        text = f"I.matmul({lhs.text}, {rhs.text}, acc_dtype=I.{acc})"
        _finish(writer, context, Term(text, acc, context.shape, bound))


def chained_products(writer: Writer, context: Context) -> None:
    """A product of a product, narrowed in between."""
    if len(context.shape) != 2 or context.ordered or any(a.symbol in ("K", "D") for a in context.axes):
        return
    rows, columns = (axis for axis in context.axes if axis.variable is None)
    k, d = Axis("K", "k"), Axis("D", "d")
    dtype = writer.expressions.pick(["f16", "f32", "bf16"])
    first, second = _operand(writer, context, dtype, [rows, k]), _operand(writer, context, dtype, [k, d])
    third = _operand(writer, context, dtype, [d, columns])
    inner = f"I.matmul({first.text}, {second.text}, acc_dtype=I.f32)"
    name = writer.fresh("h")
    writer.emit(
        context,
        f"{name} = I.cast(I.maximum(I.minimum({inner}, 8.0), {writer.expressions.pick(['0.0', '-8.0'])}), I.{dtype})",
    )
    bound = 8 * (third.bound or 0) * LARGEST_EXTENT
    if _bound(first, second) is not None and third.bound is not None:
        text = f"I.matmul({name}, {third.text}, acc_dtype=I.f32)"
        _finish(writer, context, Term(text, "f32", context.shape, bound))


def accumulated_products(writer: Writer, context: Context) -> None:
    """An ordered loop that carries a tile and adds a product to it."""
    if len(context.shape) != 2 or context.ordered or any(a.symbol in ("K", "D") for a in context.axes):
        return
    rows, columns = (axis for axis in context.axes if axis.variable is None)
    dtype, name, step = writer.expressions.pick(["f16", "f32", "i8"]), writer.fresh("c"), writer.fresh("j")
    acc = "i32" if dtype == "i8" else "f32"
    for symbol in (rows.symbol, columns.symbol, "D"):
        writer.require(symbol)
    writer.emit(context, f"{name} = I.zeros(({rows.symbol}, {columns.symbol}), I.{acc})")
    writer.emit(context, f"for {step} in range(D):")
    inner = context.inner((*context.axes, Axis("D", "d", step)), ordered=True)
    k = Axis("K", "k")
    lhs, rhs = _operand(writer, inner, dtype, [rows, k]), _operand(writer, inner, dtype, [k, columns])
    bound = _bound(lhs, rhs)
    if _rounds(lhs, dtype, bound):
        writer.emit(inner, f"{name} = {name} + {name}")
    else:
        writer.emit(inner, f"{name} = {name} + I.matmul({lhs.text}, {rhs.text}, acc_dtype=I.{acc})")
    writer.define(context, Term(name, acc, context.shape, None if bound is None else bound * LARGEST_EXTENT))


def inner_product(writer: Writer, context: Context) -> None:
    """Two vectors along one more axis."""
    if context.ordered or any(axis.symbol == "K" for axis in context.axes):
        return
    dtype, k = writer.expressions.pick(DTYPES), Axis("K", "k")
    lhs, rhs = _operand(writer, context, dtype, [k]), _operand(writer, context, dtype, [k])
    acc, bound = _acc(writer, dtype), _bound(lhs, rhs)
    if not _rounds(lhs, dtype, bound):
        writer.define(context, Term(f"I.dot({lhs.text}, {rhs.text}, acc_dtype=I.{acc})[()]", acc, (), bound))


# ----------------------------------------------------------------------------------------------------- encoded operands
def _encoded(writer: Writer, context: Context, name: str, dtype: str, items: str, shape: tuple[str, ...]) -> str:
    """A view whose arguments are codes of a format, read at `items`."""
    view = View(f"{name}{len(writer.expressions.views)}", dtype, shape, "In", 4, readable=False)
    writer.expressions.views.append(view)
    return f"{view.name}[{items}]"


def scaled_product(writer: Writer, context: Context) -> None:
    """Products of narrow floats with a scale for each group: sums that round, and so go straight to an output."""
    if len(context.shape) != 2 or context.ordered:
        return
    rows, columns = (axis for axis in context.axes if axis.variable is None)
    width, group, form = writer.expressions.random.choice([("32", 32, "e4m3"), ("16", 32, "e2m1"), ("8", 8, "e4m3")])
    lhs = _encoded(writer, context, "code", "u8", f"{rows.domain}, :, :", (rows.symbol, "G", width))
    lhs_scale = _encoded(writer, context, "scale", "u8", f"{rows.domain}, :", (rows.symbol, "G"))
    rhs = _encoded(writer, context, "code", "u8", f":, :, {columns.domain}", ("G", width, columns.symbol))
    rhs_scale = _encoded(writer, context, "scale", "u8", f"{columns.domain}, :", (columns.symbol, "G"))
    formats = f"lhs_format=I.{form}, rhs_format=I.{form}"
    call = f"I.scaled_matmul({lhs}, {lhs_scale}, {rhs}, {rhs_scale}, {formats}, group_size={group}, acc_dtype=I.f32)"
    if writer.chance(0.5):
        call = f"I.scaled_contract({lhs}, {lhs_scale}, {rhs}, {rhs_scale}, {formats}, lhs_group_size={group}, "
        call += f"rhs_group_size={group}, reduce=((1, 0), (2, 1)), acc_dtype=I.f32)"
    writer.output(context, Term(call, "f32", context.shape), inexact=True)


def sparse_product(writer: Writer, context: Context) -> None:
    """A structurally sparse operand: the values that are kept, and where they stand."""
    if len(context.shape) != 2 or context.ordered:
        return
    rows, columns = (axis for axis in context.axes if axis.variable is None)
    dtype = writer.expressions.pick(["f16", "f32", "bf16"])
    pattern = writer.expressions.pick(["two_of_four", "one_of_two"])
    groups = "4" if pattern == "two_of_four" else "8"
    values = _encoded(writer, context, "x", dtype, f"{rows.domain}, :", (rows.symbol, "8"))
    first = _encoded(writer, context, "low", "index", f"{rows.domain}, :", (rows.symbol, groups))
    where = first
    if pattern == "two_of_four":
        second = _encoded(writer, context, "high", "index", f"{rows.domain}, :", (rows.symbol, groups))
        where = f"I.record(first={first}, second={second})"
    dense = _encoded(writer, context, "x", dtype, f":, {columns.domain}", ("16", columns.symbol))
    stated = f"format=I.sparse.{pattern}(compression_axis=1, logical_extent=16)"
    call = f"I.sparse_matmul({values}, {where}, {dense}, {stated}, acc_dtype=I.f32)"
    if writer.chance(0.4):
        call = f"I.sparse_contract({values}, {where}, {dense}, {stated}, reduce=((1, 0),), acc_dtype=I.f32)"
    elif pattern == "two_of_four" and writer.chance(0.5):
        call = f"I.sparse_contract_2to4({values}, {where}, {dense}, acc_dtype=I.f32)"
    writer.define(context, Term(call, "f32", context.shape, 8 * 16))


CONTRACTION_STAGES: tuple[Stage, ...] = (
    contraction, contraction, products_of_every_dtype, batched_product, chained_products, accumulated_products,
    inner_product, scaled_product, sparse_product,
)  # fmt: skip
