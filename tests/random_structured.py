"""Reductions, scans and region operations with combines of every kind, for random programs.

A combine is a record of fields that merge on their own (a total, a product, an extremum) or with their neighbours (the
last value, an affine map, a segmented sum): what merges with its neighbours tells whether the order was kept. Floats
stay exact; only `online_softmax` rounds, and goes straight to an output.
"""

from __future__ import annotations

from random_expressions import FLOATS, LARGEST_SUM, Axis, Context, Shape, Term
from random_stages import LARGEST_EXTENT, Stage, Writer

from intent.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Field:
    """One component of a monoid, as texts.

    `element` is made of one value `{v}` and its coordinate `{at}`, `summary` of a slice of both along axis `{axis}`;
    `merged` of the operands' fields `{a}` and `{b}`, each a format string that takes a field's name.
    """

    name: str
    dtype: str
    identity: str
    element: str
    summary: str
    merged: str
    ordered: bool = False  # the merged value depends on which operand comes first
    with_fields: tuple[str, ...] = ()  # other fields that `merged` reads


def _last(value: str) -> str:
    """The value at the last coordinate of a slice."""
    return f"I.reduce.sum(I.select({{at}} == I.reduce.max({{at}}, axis={{axis}}){{new}}, {value}, 0), axis={{axis}})"


COUNT = Field("count", "i32", "0", "one({v})", "I.reduce.sum(one({v}), axis={axis})", "{a.count} + {b.count}")
INTEGER_FIELDS = (
    Field("total", "i32", "0", "{v}", "I.reduce.sum({v}, axis={axis})", "{a.total} + {b.total}"),
    Field("top", "i32", "-2147483648", "{v}", "I.reduce.max({v}, axis={axis})", "I.maximum({a.top}, {b.top})"),
    Field(
        "low", "i32", "2147483647", "{v}",
        "I.reduce({v}, axis={axis}, identity=2147483647, combine=I.minimum)", "I.minimum({a.low}, {b.low})",
    ),
    Field("mixed", "i32", "0", "{v} ^ {at}", "I.reduce({v} ^ {at}, axis={axis}, identity=0, combine=mix)",
          "{a.mixed} ^ {b.mixed}"),
    Field("seen", "bool", "False", "{v} == 3", "I.reduce.any({v} == 3, axis={axis})", "{a.seen} | {b.seen}"),
    Field("every", "bool", "True", "{v} != 2", "I.reduce.all({v} != 2, axis={axis})", "{a.every} & {b.every}"),
    Field("where", "i32", "-1", "I.select({v} > 2, {at}, -1)",
          "I.reduce.max(I.select({v} > 2, {at}, -1), axis={axis})", "I.maximum({a.where}, {b.where})"),
    Field("last", "i32", "0", "{v}", _last("{v}"), "I.select({b.count} > 0, {b.last}, {a.last})",
          ordered=True, with_fields=("count",)),
    Field("first", "i32", "0", "{v}",
          "I.reduce.sum(I.select({at} == -I.reduce.max(-{at}, axis={axis}){new}, {v}, 0), axis={axis})",
          "I.select({a.count} > 0, {a.first}, {b.first})", ordered=True, with_fields=("count",)),
    Field("head", "i32", "0", "{v}", "{v}{begin}", "I.select({a.count} > 0, {a.head}, {b.head})",
          ordered=True, with_fields=("count",)),
    Field("tail", "i32", "0", "{v}", "{v}{end}", "I.select({b.count} > 0, {b.tail}, {a.tail})",
          ordered=True, with_fields=("count",)),
    COUNT,
)  # fmt: skip
FACTOR = Field("factor", "i32", "1", "{v} | 1", "", "{a.factor} * {b.factor}")
SCANNED_FIELDS = (
    Field("offset", "i32", "0", "{v} + {at}", "", "{a.offset} * {b.factor} + {b.offset}", ordered=True,
          with_fields=("factor",)),
    Field("run", "i32", "0", "{v}", "", "I.select({b.start}, {b.run}, {a.run} + {b.run})", ordered=True,
          with_fields=("start",)),
)  # fmt: skip
START = Field("start", "bool", "False", "({v} & 3) == 0", "", "{a.start} | {b.start}")
BY_NAME = {field.name: field for field in (*INTEGER_FIELDS, *SCANNED_FIELDS, FACTOR, START)}
ONE = ("v", "return I.select(v == v, I.cast(1, I.i32), I.cast(1, I.i32))")
MIX = ("a, b", "return a ^ b")


@dataclass(frozen=True, slots=True)
class Monoid:
    """Fields as one value: a record, a tuple, or (one field) a plain tensor."""

    fields: tuple[Field, ...]
    form: str  # "record", "tuple" or "plain"

    def made(self, parts: list[str]) -> str:
        if self.form == "plain":
            return parts[0]
        if self.form == "tuple":
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"I.record({', '.join(f'{f.name}={part}' for f, part in zip(self.fields, parts, strict=True))})"

    def part(self, value: str, name: str) -> str:
        if self.form == "plain":
            return value
        position = [field.name for field in self.fields].index(name)
        return f"{value}[{position}]" if self.form == "tuple" else f"{value}.{name}"

    def merged(self, field: Field) -> str:
        text = field.merged
        for other in self.fields:
            for side in "ab":
                text = text.replace(f"{{{side}.{other.name}}}", self.part(side, other.name))
        return text


def _monoid(writer: Writer, candidates: tuple[Field, ...], ordered: bool) -> Monoid:
    """Some of the fields, with those that they need."""
    usable = [field for field in candidates if ordered or not field.ordered]
    chosen = writer.expressions.random.sample(usable, writer.expressions.random.choice([1, 1, 2, 3]))
    names = dict.fromkeys(name for field in chosen for name in (*field.with_fields, field.name))
    fields = tuple(BY_NAME[name] for name in names)
    form = writer.expressions.pick(["record", "record", "tuple", "plain" if len(fields) == 1 else "record"])
    return Monoid(fields, form)


def _combine(writer: Writer, monoid: Monoid) -> str:
    return writer.helper("a, b", f"return {monoid.made([monoid.merged(field) for field in monoid.fields])}")


def _filled(writer: Writer, text: str, **values: str) -> str:
    """A template with its texts; the small helpers that it names are defined."""
    for name, (parameters, line) in {"one": ONE, "mix": MIX}.items():
        if f"{name}(" in text or f"={name})" in text:
            text = text.replace(f"{name}(", f"{name}_(").replace(f"={name})", f"={name}_)")
            writer.named_helper(f"{name}_", parameters, line)
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


# ------------------------------------------------------------------------------------------------------------- operands
@dataclass(frozen=True, slots=True)
class Line:
    """A value along an axis, as texts: the integers, their coordinates beside them, and where the axis stands."""

    context: Context
    axis: int
    left: Shape
    value: Term
    at: str

    @property
    def symbol(self) -> str:
        return self.context.shape[self.axis]

    @property
    def domain(self) -> str:
        return next(axis.domain for axis in self.context.axes if axis.symbol == self.symbol)

    @property
    def new_axis(self) -> str:
        """The index that puts the axis back into a value that was reduced along it."""
        if not self.left:
            return ""
        return f"[{', '.join('None' if at == self.axis else ':' for at in range(len(self.context.shape)))}]"

    def picked(self, place: str) -> str:
        """The index that picks what is at a place along the axis."""
        return f"[{', '.join(place if at == self.axis else ':' for at in range(len(self.context.shape)))}]"


def along(writer: Writer, context: Context, dtype: str = "i32", depth: int = 2) -> Line | None:
    """A value along an axis of the context or one more, K."""
    inner, axis = context, writer.expressions.random.randrange(max(len(context.shape), 1))
    if not context.shape or writer.chance(0.4):
        if any(each.symbol == "K" for each in context.axes) or len(context.shape) > 2:
            return None
        free = [each for each in context.axes if each.variable is None]
        axis = writer.expressions.random.randrange(len(free) + 1)
        free.insert(axis, Axis("K", "k"))
        writer.require("K")
        inner = replace(context, axes=(*context.fixed, *free), terms=list(context.terms))
    value = writer.expressions.bounded(inner, dtype, inner.shape, depth)
    if len(inner.shape) < 3 and dtype not in FLOATS:  # the interpreter cannot make a scalar of a sum that wraps around
        value = replace(value, text=f"({value.text} & {writer.expressions.pick(['127', '15', '3'])})")
    value = writer.define(replace(inner, terms=[]), value)
    left = tuple(symbol for at, symbol in enumerate(inner.shape) if at != axis)
    domain = next(each.domain for each in inner.axes if each.symbol == inner.shape[axis])
    coordinates = f"I.cast(I.indices({domain}), I.i32)"
    index = ", ".join(":" if at == axis else "None" for at in range(len(inner.shape)))
    at = f"{coordinates}[{index}]" if left else coordinates
    return Line(inner, axis, left, value, at)


def _take(writer: Writer, context: Context, monoid: Monoid, name: str, shape: Shape) -> None:
    """Each field as a term."""
    for field in monoid.fields:
        context.terms.append(Term(monoid.part(name, field.name), field.dtype, shape))


def _identity(monoid: Monoid, shape: str) -> str:
    """`shape` is the text of the extents, or empty for scalars."""
    parts = [
        f"I.full({shape}, {field.identity}, dtype=I.{field.dtype})"
        if shape
        else f"I.cast({field.identity}, I.{field.dtype})"
        for field in monoid.fields
    ]
    return monoid.made(parts)


def _extents(shape: Shape) -> str:
    return f"({', '.join(shape)}{',' if len(shape) == 1 else ''})" if shape else ""


# ------------------------------------------------------------------------------------------------- reductions and scans
def generic_reduction(writer: Writer, context: Context) -> None:
    """A commutative monoid over one axis, or over all."""
    line = along(writer, context)
    if line is None:
        return
    monoid = _monoid(writer, INTEGER_FIELDS, ordered=False)
    combine, name = _combine(writer, monoid), writer.fresh("v")
    elements = [_filled(writer, each.element, v=line.value.text, at=line.at) for each in monoid.fields]
    whole = len(line.context.shape) > 1 and writer.chance(0.25)
    axis, left = ("(0, 1)", line.left[1:]) if whole else (str(line.axis), line.left)
    if whole and line.left[1:]:
        return
    identity = monoid.made([f"I.cast({each.identity}, I.{each.dtype})" for each in monoid.fields])
    writer.emit(context, f"{name} = I.reduce({monoid.made(elements)}, axis={axis},")
    writer.emit(context, f"    identity={identity}, combine={combine})")
    _take(writer, context, monoid, name, left)


def reduction_with_operand(writer: Writer, context: Context) -> None:
    """a + b + k * a * b, which a scalar makes: associative and commutative on integers that wrap around."""
    line = along(writer, context)
    if line is None:
        return
    combine = writer.helper("a, b, k", "return a + b + k * a * b")
    operand = writer.expressions.expression(context, "i32", (), 1)
    if operand.text.startswith("I.cast(") and writer.chance(0.5):
        operand = replace(operand, text="3")
    text = f"I.reduce({line.value.text}, axis={line.axis}, identity=I.cast(0, I.i32), combine={combine}, "
    writer.define(context, Term(f"{text}combine_operands=({operand.text},))", "i32", line.left))


def generic_scan(writer: Writer, context: Context) -> None:
    """Any monoid, forwards or backwards, with or without the element itself."""
    line = along(writer, context)
    if line is None:
        return
    monoid = _monoid(writer, (*SCANNED_FIELDS, *INTEGER_FIELDS), ordered=True)
    combine, name = _combine(writer, monoid), writer.fresh("v")
    elements = [_filled(writer, each.element, v=line.value.text, at=line.at) for each in monoid.fields]
    identity = monoid.made([f"I.cast({each.identity}, I.{each.dtype})" for each in monoid.fields])
    options = f"inclusive={writer.expressions.pick(['True', 'True', 'False'])}"
    options += ", reverse=True" if writer.chance(0.3) else ""
    writer.emit(context, f"{name} = I.scan({monoid.made(elements)}, axis={line.axis},")
    writer.emit(context, f"    identity={identity}, combine={combine}, {options})")
    _use_along(writer, context, line, [(monoid.part(name, each.name), each.dtype) for each in monoid.fields])


def _use_along(writer: Writer, context: Context, line: Line, values: list[tuple[str, str]]) -> None:
    """Terms of the line's shape; an axis that the context lacks is reduced away, or stored as it is."""
    for text, dtype in values:
        if line.context.shape == context.shape:
            context.terms.append(Term(text, dtype, context.shape))
        elif writer.chance(0.3):
            function = "any" if dtype == "bool" else "max"
            writer.define(context, Term(f"I.reduce.{function}({text}, axis={line.axis})", dtype, line.left))
        else:
            writer.output(line.context, Term(text, dtype, line.context.shape))


def both_of_arg(writer: Writer, context: Context) -> None:
    """The largest and where it is, the position kept as an index."""
    line = along(writer, context, writer.expressions.pick(["i32", "f32", "i8", "u8"]))
    if line is None:
        return
    top, at = writer.fresh("v"), writer.fresh("v")
    writer.emit(
        context, f"{top}, {at} = I.arg_reduce.max({line.value.text}, axis={line.axis - len(line.context.shape)})"
    )
    context.terms.append(Term(top, line.value.dtype, line.left))
    writer.output(context, Term(at, "index", line.left))


def sums_of_every_width(writer: Writer, context: Context) -> None:
    """Sums and prefix sums with an accumulator of the author's."""
    dtype, wide = writer.expressions.random.choice(
        [("f16", "f32"), ("f32", "f64"), ("bf16", "f64"), ("i8", "i64"), ("i32", "i64"), ("u8", "u64"), ("f16", "f64")]
    )
    line = along(writer, context, dtype)
    if line is None:
        return
    bound = None if line.value.bound is None else line.value.bound * LARGEST_EXTENT
    if bound is not None and bound > LARGEST_SUM:
        return
    if writer.chance(0.5):
        text = f"I.reduce.sum({line.value.text}, axis={line.axis}, acc_dtype=I.{wide})"
        writer.define(context, Term(text, wide, line.left, bound))
    elif line.context.shape == context.shape:
        text = f"I.cumsum({line.value.text}, axis={line.axis}, acc_dtype=I.{wide})"
        writer.define(context, Term(text, wide, context.shape, bound))


# ---------------------------------------------------------------------------------------------------- region operations
def _summary(writer: Writer, line: Line, monoid: Monoid) -> str:
    """A helper that summarizes a slice; what lies beyond a limit that the caller gives counts as zero."""
    places = {"begin": "0", "end": writer.expressions.pick([f"v.shape[{line.axis}] - 1", "-1"])}
    values = {name: line.picked(place) for name, place in places.items()}
    values |= {"v": "v", "at": "at", "axis": str(line.axis), "new": line.new_axis}
    parts = [_filled(writer, field.summary, **values) for field in monoid.fields]
    masked = f"v = I.mask(v, at {writer.expressions.pick(['<', '>=', '!='])} limit, 0)"
    return writer.helper("v, at, limit", masked, f"return {monoid.made(parts)}")


def _source(line: Line) -> str:
    """The values and their coordinates, in a shape that has the sliced axis at the same place."""
    return f"source=({line.value.text}, {line.at}), axis={line.axis}"


def _limit(writer: Writer, context: Context, line: Line) -> str:
    """A scalar, or one limit for each of the axes that stay."""
    if line.left and writer.chance(0.5):
        term = writer.expressions.expression(context, "i32", line.left, 1)
        return f"({term.text}){line.new_axis}"
    return writer.expressions.pick(["2", writer.expressions.expression(context, "i32", (), 1).text])


def region_fold(writer: Writer, context: Context) -> None:
    line = along(writer, context)
    if line is None:
        return
    monoid = _monoid(writer, INTEGER_FIELDS, ordered=True)
    summary, combine, name = _summary(writer, line, monoid), _combine(writer, monoid), writer.fresh("v")
    writer.emit(context, f"{name} = I.region_fold({_source(line)}, summarize={summary}, combine={combine},")
    identity = _identity(monoid, _extents(line.left))
    writer.emit(context, f"    identity={identity}, operands=({_limit(writer, context, line)},))")
    _take(writer, context, monoid, name, line.left)


def region_scan(writer: Writer, context: Context) -> None:
    """Outputs along the axis, from the elements and the state before their slice, and the last state."""
    line = along(writer, context)
    if line is None:
        return
    field = writer.expressions.random.choice([BY_NAME[name] for name in ("total", "top", "low", "mixed")])
    monoid = Monoid((field,), writer.expressions.pick(["plain", "record"]))
    summary, combine = _summary(writer, line, monoid), _combine(writer, monoid)
    exclusive = writer.expressions.pick(["", "", ", inclusive=False"])
    scan = "I.scan(" + field.element + ", axis={axis}, identity=" + field.identity + ", combine={combine}"
    prefix = {"total": "I.cumsum(v, axis={axis}", "top": "I.cummax(v, axis={axis}"}.get(field.name, scan)
    prefix = f"{prefix}{exclusive})"
    combine_values = writer.helper("a, b", f"return {Monoid((field,), 'plain').merged(field)}")
    prefix = _filled(writer, prefix, v="v", at="at", axis=str(line.axis), combine=combine_values)
    masked = writer.lines_of(summary)[0]
    state = f"{monoid.part('state', field.name)}{line.new_axis}"
    emit = writer.helper("v, at, state, limit", masked, f"return {combine_values}({state}, {prefix})")
    out, last = writer.fresh("v"), writer.fresh("v")
    writer.emit(context, f"{out}, {last} = I.region_scan({_source(line)}, summarize={summary}, combine={combine},")
    identity = _identity(monoid, _extents(line.left))
    initial = identity.replace(field.identity, "5", 1) if writer.chance(0.5) and not line.left else identity
    writer.emit(
        context, f"    identity={identity}, initial_state={initial}, apply={_applied(writer, monoid)}, emit={emit},"
    )
    writer.emit(context, f"    operands=({_limit(writer, context, line)},))")
    _take(writer, context, monoid, last, line.left)
    _use_along(writer, context, line, [(out, field.dtype)])


def _applied(writer: Writer, monoid: Monoid) -> str:
    """The summary after the state."""
    merged = monoid.made([monoid.merged(field) for field in monoid.fields])
    return writer.helper("b, a", f"return {merged}")


def online_softmax(writer: Writer, context: Context) -> None:
    """The largest element, the mass of exponentials and their weighted sum: inexact, so that it is stored at once."""
    line = along(writer, context, "f32")
    if line is None:
        return
    axis, new = line.axis, line.new_axis
    summary = writer.helper(
        "v, at, limit",
        f"v = I.mask(v, at {writer.expressions.pick(['<=', '>=', '!='])} limit, -1.0e30)",
        f"top = I.reduce.max(v, axis={axis})",
        f"weight = I.mask(I.exp(v - top{new}), at {writer.expressions.pick(['<', '>='])} limit, 0.0)",
        f"moment = I.reduce.sum(weight * I.cast(at, I.f32), axis={axis})",
        f"return I.record(top=top, mass=I.reduce.sum(weight, axis={axis}), moment=moment)",
    )
    combine = writer.helper(
        "a, b", "top = I.maximum(a.top, b.top)", "left, right = I.exp(a.top - top), I.exp(b.top - top)",
        "return I.record(top=top, mass=a.mass * left + b.mass * right, moment=a.moment * left + b.moment * right)",
    )  # fmt: skip
    fields = [Field(name, "f32", first, "", "", "") for name, first in
              (("top", "-1.0e30"), ("mass", "0.0"), ("moment", "0.0"))]  # fmt: skip
    name = writer.fresh("w")
    writer.emit(context, f"{name} = I.region_fold({_source(line)}, summarize={summary}, combine={combine},")
    identity = _identity(Monoid(tuple(fields), "record"), _extents(line.left))
    writer.emit(context, f"    identity={identity}, operands=({_limit(writer, context, line)},))")
    value = (
        f"{name}.moment / (I.cast(1.0, I.f32) + {name}.mass)"
        if not line.left
        else f"{name}.moment / (1.0 + {name}.mass)"
    )
    writer.output(replace(context, axes=_kept(context, line.left)), Term(value, "f32", line.left), inexact=True)


def _kept(context: Context, left: Shape) -> tuple[Axis, ...]:
    return tuple(axis for axis in context.axes if axis.variable is not None or axis.symbol in left)


def chunk_products(writer: Writer, context: Context) -> None:
    """Attention's form: scores of a tile against slices of keys, masked by coordinates, summed against values."""
    if len(context.shape) != 2 or any(axis.symbol in ("K", "D") for axis in context.axes):
        return
    rows, columns = (axis for axis in context.axes if axis.variable is None)
    keys, depth = Axis("K", "k"), Axis("D", "d")
    for symbol in "KD":
        writer.require(symbol)
    dtype = writer.expressions.pick(["f16", "f32", "bf16"])
    parts = {}
    for name, axes in (("q", (rows, depth)), ("keys", (keys, depth)), ("values", (keys, columns))):
        inner = replace(context, axes=(*context.fixed, *axes), terms=[])
        parts[name] = writer.expressions.bounded(inner, dtype, inner.shape, 1, limit=8).text
    causal = writer.expressions.pick(["causal and ", ""])
    summary = writer.helper(
        "keys, values, at, q, row, causal",
        "scores = I.matmul(q, keys, transpose_rhs=True, acc_dtype=I.f32)",
        *(["if causal:", "    scores = I.mask(scores, at[None, :] <= row[:, None], 0.0)"] if causal else []),
        "scores = I.cast(I.maximum(I.minimum(scores, 4.0), -4.0), " + f"I.{dtype})",
        "return I.matmul(scores, values, acc_dtype=I.f32)",
    )
    name = writer.fresh("v")
    writer.emit(context, f"{name} = I.region_fold(source=({parts['keys']}, {parts['values']}, I.indices(k)), axis=0,")
    writer.emit(
        context, f"    summarize={summary}, combine=I.add, identity=I.zeros(({rows.symbol}, {columns.symbol}), I.f32),"
    )
    flag = writer.expressions.pick(["True", "False"])
    writer.emit(context, f"    operands=({parts['q']}, I.indices({rows.domain}), {flag}))")
    context.terms.append(Term(name, "f32", context.shape, 4 * 8 * LARGEST_EXTENT))


STRUCTURED_STAGES: tuple[Stage, ...] = (
    generic_reduction, reduction_with_operand, generic_scan, both_of_arg, sums_of_every_width, region_fold,
    region_scan, online_softmax, chunk_products,
)  # fmt: skip
