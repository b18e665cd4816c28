"""Operands held in a storage format, for random programs: quantized records, mixed narrow formats, sparse rows."""

from __future__ import annotations

from random_expressions import Context, Term, View
from random_shapes import free_axes, new_view
from random_stages import Stage, Writer


def _named(writer: Writer, prefix: str, dtype: str, shape: tuple[str, ...]) -> View:
    """A view whose arguments follow from its name."""
    view = new_view(writer, "In", dtype, shape, bound=4)
    view.name = f"{prefix}{view.name[1:]}"
    return view


def quantized_rows(writer: Writer, context: Context) -> None:
    """Rows of 256 numbers as records: stored, or multiplied with other records."""
    free = free_axes(context)
    if context.ordered or len(context.axes) > 1 or writer.chance(0.5):
        return
    fixed, place = tuple(axis.symbol for axis in context.fixed), "".join(f"{a.variable}, " for a in context.fixed)
    rows = tuple(axis.symbol for axis in free)
    source = new_view(writer, "In", "f32", (*fixed, *rows, "256"), bound=4)
    items = ", ".join([*(str(axis.variable) for axis in context.fixed), *(axis.domain for axis in free), ":"])
    records = writer.fresh("records")
    writer.emit(context, f"{records} = I.quantize({source.name}[{items}], format=I.quant.q8_k)")
    if writer.chance(0.5):
        target = new_view(writer, "Out", "u8", (*fixed, *rows, "292"))
        writer.emit(context, f"{target.name}[{place}{':, ' * len(rows)}:] = {records}")
        return
    if free:
        writer.require(free[0].symbol)
        records = f"{records}[{free[0].symbol} - 1, :]" if writer.chance(0.3) else f"{records}[0, :]"
        if not context.parallel:
            return  # whether there is a row at all is the size's
        return
    codes = _named(writer, "record", "u8", (*fixed, "144"))
    left = f"{codes.name}[{place}{writer.expressions.pick([':', '0:144', '...'])}]"
    formats = writer.expressions.pick(["", ", lhs_format=I.quant.q4_k, rhs_format=I.quant.q8_k, acc_dtype=I.f32"])
    writer.define(context, Term(f"I.quantized_dot({left}, {records}{formats})[()]", "f32"))


def stored_records(writer: Writer, context: Context) -> None:
    """Records that are read, several to a row."""
    if context.ordered or context.shape or not context.fixed:
        return
    fixed, place = tuple(axis.symbol for axis in context.fixed), "".join(f"{a.variable}, " for a in context.fixed)
    left, right = _named(writer, "record", "u8", (*fixed, "2", "144")), _named(writer, "octet", "u8", ("2", "292"))
    at = writer.expressions.pick("01")
    text = f"I.quantized_dot({left.name}[{place}{at}, :], {right.name}[1 - {at}, :])[()]"
    total, step = writer.fresh("c"), writer.fresh("j")
    if writer.chance(0.5):
        writer.define(context, Term(text, "f32"))
        return
    writer.emit(context, f"{total} = I.cast(0.0, I.f32)")
    writer.emit(context, f"for {step} in range(2):")
    inner = context.inner(context.axes, ordered=True)
    text = f"I.quantized_dot({left.name}[{place}{step}, :], {right.name}[{step}, :])[()]"
    writer.emit(inner, f"{total} = {total} + {text}")
    context.terms.append(Term(total, "f32"))


def mixed_formats(writer: Writer, context: Context) -> None:
    """Narrow operands of two formats and scales of two kinds."""
    if len(context.shape) != 2 or context.ordered:
        return
    rows, columns = free_axes(context)
    pick, group = writer.expressions.random.choice, 16
    parts, formats = [], []
    for side, axis in (("lhs", rows), ("rhs", columns)):
        form, dtype, width = pick([("e4m3", "u8", "16"), ("e4m3", "f8e4m3fn", "16"), ("e2m1", "u8", "8")])
        prefix = "code" if dtype == "u8" else "narrow"
        shape = (axis.symbol, "G", width) if side == "lhs" else ("G", width, axis.symbol)
        codes = _named(writer, prefix, dtype, shape)
        kind = pick(["u8", "f32"])
        scale = _named(writer, "scale" if kind == "u8" else "x", kind, (axis.symbol, "G"))
        parts += [f"{codes.name}[:, :, :]", f"{scale.name}[:, :]"]
        formats.append(f"{side}_format=I.{form}")
    acc = writer.expressions.pick(["f32", "f64"])
    call = f"I.scaled_matmul({', '.join(parts)}, {', '.join(formats)}, group_size={group}, acc_dtype=I.{acc})"
    writer.output(context, Term(call, acc, context.shape), inexact=True)


def sparse_columns(writer: Writer, context: Context) -> None:
    """Compressed along the first axis, or with a batch; integers too."""
    if len(context.shape) != 2 or context.ordered:
        return
    rows, columns = free_axes(context)
    dtype, acc = writer.expressions.random.choice([("f16", "f32"), ("f32", "f32"), ("i8", "i32"), ("bf16", "f32")])
    pattern = writer.expressions.pick(["two_of_four", "one_of_two"])
    groups = "4" if pattern == "two_of_four" else "8"
    values = new_view(writer, "In", dtype, ("8", rows.symbol), bound=4)
    first = _named(writer, "low", "index", (groups, rows.symbol))
    where = f"{first.name}[:, {rows.domain}]"
    if pattern == "two_of_four":
        second = _named(writer, "high", "index", (groups, rows.symbol))
        where = f"I.record(first={where}, second={second.name}[:, {rows.domain}])"
    dense = new_view(writer, "In", dtype, (columns.symbol, "16"), bound=4)
    stated = f"format=I.sparse.{pattern}(compression_axis=0, logical_extent=16)"
    call = f"I.sparse_contract({values.name}[:, {rows.domain}], {where}, {dense.name}[{columns.domain}, :], {stated}, "
    bound = 8 * 16 if dtype != "i8" else None
    writer.define(context, Term(f"{call}reduce=((0, 1),), acc_dtype=I.{acc})", acc, context.shape, bound))


ENCODED_STAGES: tuple[Stage, ...] = (quantized_rows, stored_records, mixed_formats, sparse_columns)
