"""Random legal programs as source text: sections of whole-tensor, parallel and ordered statements, and their arguments.

Every Out is written in full, parallel points write elements of their own, divisors are nonzero, and gathers guard what
may lie outside: a program that is rejected as an error, or illegal input, is a fault of the generator.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from random import Random

import numpy as np
from random_contractions import CONTRACTION_STAGES
from random_control import CONTROL_STAGES
from random_definitions import DEFINITION_STAGES
from random_encoded import ENCODED_STAGES
from random_expressions import (
    COMPUTED,
    FLOATS,
    LARGEST_SUM,
    SIGNED,
    STORED_ONLY,
    Axis,
    Context,
    Expressions,
    Shape,
    Term,
    View,
    aligned,
)
from random_memory import MEMORY_STAGES
from random_places import PLACE_STAGES
from random_shapes import SHAPE_STAGES
from random_stages import LARGEST_EXTENT, STAGES
from random_structured import STRUCTURED_STAGES

from intent.dtypes import BY_NAME
from intent.records import dataclass, field, replace
from translators.logical.reference_numerics import carrier

COMPOSITIONS = 0.08  # the share of programs that are host functions
LARGEST_POINT_COUNT = 96  # the reference runs parallel points one by one
SIZES = (0, 1, 2, 3, 5, 8, 16, 17, 33)
FAMILIES = (
    STAGES, STRUCTURED_STAGES, CONTRACTION_STAGES, MEMORY_STAGES, MEMORY_STAGES, CONTROL_STAGES, SHAPE_STAGES,
    SHAPE_STAGES, DEFINITION_STAGES, PLACE_STAGES, PLACE_STAGES, ENCODED_STAGES,
)  # fmt: skip
CODES = {  # of encoded operands, by name
    "code": (0, 0x78), "scale": (124, 131), "low": (0, 2), "high": (2, 4), "record": (0, 0x78),
}  # fmt: skip
TOLERANCE = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 5e-2}
INEXACT = (
    "I.exp(I.minimum({}, 4.0))", "I.sigmoid({})", "I.tanh({})", "I.erf({})", "I.log1p(I.abs({}))", "I.cos({})",
    "I.rsqrt(I.abs({}) + 1.0)", "I.exp2(I.minimum({}, 6.0))", "I.log(I.abs({}) + 1.0)", "I.sin({})", "I.erfc({})",
    "I.asin(I.sigmoid({}) * 0.5)", "I.lgamma(I.abs({}) + 2.5)", "I.i0(I.minimum(I.abs({}), 4.0))", "I.fdiv({}, 3.0)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """A kernel file with one kernel `k`, and how to call it."""

    text: str
    views: tuple[View, ...]
    scalars: tuple[Term, ...]
    seed: int  # of the arguments
    constexprs: Mapping[str, object] = field(default_factory=dict)
    relaxed: bool = False  # whether normalisations may be rescaled
    entry: str = "k"  # the kernel, or a host function
    results: tuple[View, ...] = ()  # what a host function returns

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s for view in self.views for s in view.shape if not s.isdigit()))

    def arguments(self, sizes: Mapping[str, int], pattern: int = 0xA5) -> dict[str, object]:
        """Random arguments in declaration order; Out arrays hold a pattern."""
        generator = np.random.default_rng(self.seed)
        values: dict[str, object] = {
            view.name: np.asarray(_array(view, sizes, generator, pattern)) for view in self.views
        }
        for view in self.views:
            array = values[view.name]
            if view.stretched and isinstance(array, np.ndarray) and array.size:
                values[view.name] = np.broadcast_to(array[..., :1], array.shape)
        groups: dict[str, object] = {}
        for view in self.views:
            if view.alias:
                values[view.name] = groups.setdefault(view.alias, values[view.name])
        for scalar in self.scalars:
            values[scalar.text] = _scalar_argument(scalar.dtype, generator)
        return {name: values[name] for name in self.parameters(self.entry) if name in values}

    def parameters(self, function: str) -> list[str]:
        found = next(each for each in ast.walk(ast.parse(self.text)) if getattr(each, "name", "") == function)
        assert isinstance(found, ast.FunctionDef)
        return [parameter.arg for parameter in found.args.args]

    def random_sizes(self, generator: np.random.Generator) -> dict[str, int]:
        sizes = {symbol: int(generator.choice(SIZES)) for symbol in self.symbols}
        sizes |= {symbol: size + 1 for symbol, size in sizes.items() if symbol == "F"}  # offsets: one more than groups
        static = max((min(int(s), 48) for view in self.views for s in view.shape if s.isdigit()), default=1)
        while sizes and static * np.prod([max(size, 1) for size in sizes.values()]) > LARGEST_POINT_COUNT:
            if max(sizes.values()) <= 1:
                break
            largest = max(sizes, key=lambda symbol: sizes[symbol])
            sizes[largest] = (sizes[largest] + (largest == "F")) // 2
        return sizes


def _array(view: View, sizes: Mapping[str, int], generator: np.random.Generator, pattern: int) -> np.ndarray:
    shape = tuple(int(symbol) if symbol.isdigit() else sizes[symbol] for symbol in view.shape)
    dtype = carrier(BY_NAME[view.dtype])
    if view.direction == "Out":
        return np.full(shape, pattern & 1 if view.dtype == "bool" else pattern, np.uint8).astype(dtype)
    if view.name.startswith("at"):
        return generator.integers(-2, LARGEST_EXTENT, shape).astype(dtype)
    if (codes := CODES.get(view.name.rstrip("0123456789"))) is not None:
        return generator.integers(*codes, shape).astype(dtype)
    if view.name.startswith("octet"):
        return _octets(shape, generator)
    if view.name.startswith("perm"):
        return generator.permutation(shape[0]).astype(dtype)
    if view.name.startswith("off"):
        return _offsets(shape[0], sizes[view.name.partition("_")[2]], generator).astype(dtype)
    if view.dtype == "bool":
        return generator.random(shape) < 0.5
    if view.dtype not in (*FLOATS, *STORED_ONLY):
        wide = generator.integers(0, 2**63, shape, dtype=np.uint64)
        return np.where(
            generator.random(shape) < 0.3, wide.astype(dtype), generator.integers(0, 9, shape).astype(dtype)
        )
    values = generator.integers(-4, 5, shape).astype(np.float64)
    if view.bound is None:
        special = np.asarray([np.nan, np.inf, -np.inf, 0.5, -0.0, 1e4])
        values = np.where(generator.random(shape) < 0.3, special[generator.integers(0, 6, shape)], values)
    return values.astype(dtype)


def _offsets(count: int, members: int, generator: np.random.Generator) -> np.ndarray:
    """Where groups of members begin, and the end of the last."""
    return np.sort(generator.integers(0, members + 1, count))


def _octets(shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    """Q8_K records: a scale, 256 bytes, and the sums of 16 of them each."""
    records = np.zeros(shape, np.uint8)
    records[..., 3] = 0x3F  # the scale 0.5
    numbers = generator.integers(-128, 128, (*shape[:-1], 256)).astype(np.int8)
    records[..., 4:260] = numbers.view(np.uint8)
    records[..., 260:] = numbers.reshape(*shape[:-1], 16, 16).sum(axis=-1, dtype=np.int16).view(np.uint8)
    return records


def _scalar_argument(dtype: str, generator: np.random.Generator) -> object:
    kind = carrier(BY_NAME[dtype]).type
    return (
        kind(generator.random() < 0.5) if dtype == "bool" else kind(generator.integers(0 if dtype[0] == "u" else -6, 7))
    )


# ------------------------------------------------------------------------------------------------------------- programs
def random_program(random: Random) -> RandomProgram:
    from random_compositions import random_composition

    composed = random_composition(random) if random.random() < COMPOSITIONS else None
    return composed or writer_of(random, relaxed=random.random() < 0.1).program()


def writer_of(random: Random, relaxed: bool = False) -> Writer:
    return Writer(Expressions(random, special_values=random.random() < 0.3), relaxed=relaxed)


@dataclass(slots=True)
class Writer:
    """Collects the statements of one kernel."""

    expressions: Expressions
    lines: list[str] = field(default_factory=list)
    helpers: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # name: parameters and lines
    definitions: list[str] = field(default_factory=list)  # lines at the top of the file
    constexprs: dict[str, str] = field(default_factory=dict)  # parameters with their annotations and defaults
    bindings: dict[str, object] = field(default_factory=dict)  # constexprs that the compilation is given
    relaxed: bool = False
    counter: int = 0
    symbols: tuple[str, ...] = ()

    @property
    def random(self) -> Random:
        return self.expressions.random

    def chance(self, probability: float) -> bool:
        return self.expressions.chance(probability)

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def emit(self, context: Context, line: str) -> None:
        self.lines.append("    " * (context.depth + 1) + line)

    def helper(self, parameters: str, *body: str) -> str:
        name = self.fresh("helper")
        self.named_helper(name, parameters, *body)
        return name

    def named_helper(self, name: str, parameters: str, *body: str) -> None:
        self.helpers[name] = (parameters, body)

    def lines_of(self, helper: str) -> tuple[str, ...]:
        return self.helpers[helper][1]

    def constant(self, text: str) -> str:
        """A name of the file for a compile-time value."""
        name = self.fresh("CONST")
        self.definitions.append(f"{name} = {text}")
        return name

    def enumeration(self, *members: str) -> str:
        name = self.fresh("Mode")
        lines = [f"class {name}(I.Enum):", *(f"    {each} = {at}" for at, each in enumerate(members)), ""]
        self.definitions += lines
        return name

    def constexpr(self, annotation: str, default: str, given: object) -> str:
        """A compile-time parameter: its default, or what the compilation is given."""
        name = self.fresh("C")
        self.constexprs[name] = f"I.Constexpr[{annotation}] = {default}"
        if self.chance(0.5):
            self.bindings[name] = given
        return name

    def output(self, context: Context, value: Term, inexact: bool = False) -> None:
        """An Out view that holds the value, which has the context's free axes or some of them."""
        symbols = [axis.symbol for axis in context.fixed] + list(value.shape)
        name = f"y{len(self.expressions.views)}"
        bound = None if inexact else value.bound
        self.emit(context, f"{name}[{self._place(context, symbols)}] = {value.text}")
        self.expressions.views.append(View(name, value.dtype, tuple(symbols), "Out", bound, inexact, not inexact))

    def program(self, sections: int | None = None, promises: bool = True) -> RandomProgram:
        last = self.expressions.pick(["N", "N", "N", "8"])
        self.symbols = (*self.expressions.pick(["M", "M", "M", "", "BM"]), last)
        for _ in range(sections or self.random.choice([1, 1, 2])):
            self._section()
        if promises:
            self._promises()
        seed, text = self.random.randrange(2**16), self._text()
        views, scalars = tuple(self.expressions.views), tuple(self.expressions.scalars)
        return RandomProgram(text, views, scalars, seed, self.bindings, self.relaxed)

    def _promises(self) -> None:
        """What annotations say of memory beyond shape and dtype, and arguments that repeat one column."""
        for view in self.expressions.views:
            if view.alias or not self.chance(0.08):
                continue
            kept = ("None, " * (len(view.shape) - 1) + "1,").strip() if view.shape else ""
            promises = ["noalias=True"] + ([f"strides=({kept})", f"strides=({kept}), noalias=True"] if kept else [])
            view.constraints = f"I.constraints({self.expressions.pick(promises)})"
            if self.chance(0.3):
                view.constraints = self.constant(view.constraints)
        for view in self.expressions.views:
            if view.direction == "In" and view.shape and not view.constraints and not view.alias:
                view.stretched = view.name[0] == "x" and self.chance(0.06)

    def _text(self) -> str:
        parameters = [view.annotation for view in self.expressions.views]
        width = self._width()
        if width is not None:
            half = f" 2 * ({width} - 4))"
            parameters = [each.replace("8,)", f"{width},)").replace(" 8)", half) for each in parameters]
        scalars = [f"{scalar.text}: I.{scalar.dtype}" for scalar in self.expressions.scalars]
        parameters = scalars + parameters if self.chance(0.1) else parameters + scalars
        parameters += [f"{name}: {annotation}" for name, annotation in self.constexprs.items()]
        head = ["import intent", "import intent.language as I", "", *self.definitions, ""]
        signature = ["@intent.kernel", "def k(", *(f"    {parameter}," for parameter in parameters), "):"]
        body = ['    """What is compared."""'] if self.chance(0.1) else []
        body += [f"    assert {width} % 2 == 0"] if width is not None else []
        return "\n".join([*head, *self._definitions(), *signature, *body, *self._prologue(), *self.lines]) + "\n"

    def _width(self) -> str | None:
        """Sometimes the extent 8 of the annotations is a constant of the file."""
        if self.chance(0.85) or not any("8" in view.shape for view in self.expressions.views):
            return None
        return self.constant("2 * 4")

    def _definitions(self) -> list[str]:
        lines = []
        for name, (parameters, body) in self.helpers.items():
            lines += ["@intent.fn", f"def {name}({parameters}):", *(f"    {line}" for line in body), "", ""]
        return lines

    def _prologue(self) -> list[str]:
        """The extents that the text uses, and a domain for each symbol."""
        lines = []
        for symbol in dict.fromkeys(s for view in self.expressions.views for s in view.shape):
            owner = next(view for view in self.expressions.views if symbol in view.shape)
            if not symbol.isdigit():
                lines.append(f"    {symbol} = {owner.name}.shape[{owner.shape.index(symbol)}]")
            lines.append(f"    {_domain(symbol)} = I.domain(0, {symbol})")
        return lines

    # -------------------------------------------------------------------------------------------------------- sections
    def _section(self) -> None:
        count = self.random.choice([0, 0, 1, 1, len(self.symbols), len(self.symbols)])
        free = tuple(Axis(symbol, _domain(symbol)) for symbol in self.symbols)
        if count == 0:
            self._body(Context(free))
            return
        fixed = tuple(replace(axis, variable=self.fresh("p")) for axis in free[:count])
        for axis in fixed:  # a view of each symbol exists before the loop runs over it
            self.require(axis.symbol)
        context = Context(fixed + free[count:], depth=1, parallel=True)
        if len(fixed) > 1 and self.chance(0.5):
            names, domains = (", ".join(each) for each in ([str(a.variable) for a in fixed], [a.domain for a in fixed]))
            self.emit(replace(context, depth=0), f"for {names} in I.parallel(({domains})):")
        else:
            for depth, axis in enumerate(fixed):
                self.emit(replace(context, depth=depth), f"for {axis.variable} in I.parallel({axis.domain}):")
            context.depth = len(fixed)
        self._body(context)

    def require(self, symbol: str) -> None:
        if not any(symbol in view.shape for view in self.expressions.views):
            name = f"x{len(self.expressions.views)}"
            self.expressions.views.append(View(name, "f32", (symbol,), "In", 4))

    def _body(self, context: Context) -> None:
        for _ in range(self.random.randint(0, 4)):
            self._stage(context)
        for _ in range(self.random.choice([1, 1, 2])):
            self._store(context)

    def _stage(self, context: Context) -> None:
        stages: list[Callable[[Context], None]] = [self._let, self._loop]
        if context.shape:
            stages += [self._reduction, self._reduction, self._scan, self._generic]
        if len(context.shape) == 2 and not context.ordered:
            stages += [self._matmul, self._matmul]
        stages += [self._branch, self._helper]
        if not context.ordered:
            stages.append(self._update)
        if self.chance(0.4):
            self.random.choice(stages)(context)
            return
        for _ in range(6):  # until one suits the context
            before = len(self.lines)
            self.random.choice(self.random.choice(FAMILIES))(self, context)
            if len(self.lines) > before:
                return

    # ---------------------------------------------------------------------------------------------------------- stages
    def define(self, context: Context, term: Term) -> Term:
        name = self.fresh("v")
        self.emit(context, f"{name} = {term.text}")
        named = replace(term, text=name)
        context.terms.append(named)
        return named

    def _any_shape(self, context: Context) -> Shape:
        return context.shape if self.chance(0.7) else self.expressions.some_shape(context.shape)

    def _let(self, context: Context) -> None:
        dtype = self.expressions.pick(COMPUTED)
        self.define(context, self.expressions.expression(context, dtype, self._any_shape(context)))

    def _reduction(self, context: Context) -> None:
        kind = self.expressions.pick(["sum", "sum", "max", "any", "all", "arg"])
        axes = sorted(self.random.sample(range(len(context.shape)), self.random.choice([1, 1, len(context.shape)])))
        left = tuple(symbol for axis, symbol in enumerate(context.shape) if axis not in axes)
        axis = str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"
        if kind == "sum":
            self._sum(context, axis, len(axes), left)
        elif kind == "arg" and len(axes) == 1:
            self._arg_reduction(context, axis, left)
        elif kind in ("any", "all"):
            value = self.expressions.expression(context, "bool", context.shape, 2)
            self.define(context, Term(f"I.reduce.{kind}({value.text}, axis={axis})", "bool", left))
        else:
            value = self.expressions.expression(context, self._number_dtype(), context.shape, 2)
            self.define(context, Term(f"I.reduce.max({value.text}, axis={axis})", value.dtype, left))

    def _number_dtype(self) -> str:
        return self.expressions.pick([dtype for dtype in COMPUTED if dtype != "bool"])

    def _sum(self, context: Context, axis: str, count: int, left: Shape) -> None:
        value = self.expressions.bounded(context, self._number_dtype(), context.shape)
        if value.dtype not in FLOATS and not left:  # the interpreter cannot make a scalar of a sum that wraps around
            value = replace(value, text=f"({value.text} & 15)")
        bound = None if value.bound is None else value.bound * LARGEST_EXTENT**count
        if bound is not None and bound > LARGEST_SUM:
            return
        widened = {"f16": "f32", "bf16": "f32", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
        dtype = widened.get(value.dtype, value.dtype)
        self.define(context, Term(f"I.reduce.sum({value.text}, axis={axis})", dtype, left, bound))

    def _arg_reduction(self, context: Context, axis: str, left: Shape) -> None:
        value = self.expressions.expression(context, self._number_dtype(), context.shape, 2)
        top, at = self.fresh("v"), self.fresh("v")
        self.emit(context, f"{top}, {at} = I.arg_reduce.max({value.text}, axis={axis})")
        context.terms.append(Term(top, value.dtype, left))
        self.define(context, Term(f"I.cast({at}, I.i32)", "i32", left))

    def _scan(self, context: Context) -> None:
        axis = self.random.randrange(len(context.shape))
        options = self.expressions.pick(["", "", ", reverse=True", ", inclusive=False"])
        if self.chance(0.5):
            value = self.expressions.bounded(
                context, self.expressions.pick(["f32", "i32", "f64", "i64"]), context.shape
            )
            bound = None if value.bound is None else value.bound * LARGEST_EXTENT
            self.define(context, replace(value, text=f"I.cumsum({value.text}, axis={axis}{options})", bound=bound))
        else:
            value = self.expressions.expression(context, self.expressions.pick(["f32", "i32"]), context.shape, 2)
            bound = None if "inclusive" in options else value.bound  # before the first element it is -inf
            self.define(context, replace(value, text=f"I.cummax({value.text}, axis={axis}{options})", bound=bound))

    def _generic(self, context: Context) -> None:
        """A record reduction: the sum and the least value in one pass."""
        combine = self.helper("a, b", "return I.record(total=a.total + b.total, low=I.minimum(a.low, b.low))")
        axis = self.random.randrange(len(context.shape))
        left = tuple(symbol for position, symbol in enumerate(context.shape) if position != axis)
        total = self.expressions.bounded(context, "f32", context.shape)
        low = self.expressions.expression(context, "i32", context.shape, 1)
        name = self.fresh("v")
        self.emit(context, f"{name} = I.reduce(I.record(total={total.text}, low={low.text}), axis={axis},")
        self.emit(context, f"    identity=I.record(total=0.0, low=2147483647), combine={combine})")
        bound = (total.bound or 0) * LARGEST_EXTENT
        context.terms += [Term(f"{name}.total", "f32", left, bound), Term(f"{name}.low", "i32", left)]

    def _matmul(self, context: Context) -> None:
        rows, columns = context.shape
        inner = "K"
        dtype = self.expressions.pick(["f32", "f16", "bf16", "f32"])
        others = [axis for axis in context.axes if axis.symbol not in (rows, columns)]
        k = Axis(inner, _domain(inner))
        axes = {axis.symbol: axis for axis in context.axes}
        left = replace(context, axes=(*others, axes[rows], k), terms=[])
        right = replace(context, axes=(*others, k, axes[columns]), terms=[])
        lhs = self.expressions.bounded(left, dtype, (rows, inner), self.random.choice([0, 0, 1]))
        transposed = self.chance(0.3)
        if transposed:
            right = replace(right, axes=(*others, axes[columns], k))
        rhs = self.expressions.bounded(
            right, dtype, (columns, inner) if transposed else (inner, columns), self.random.choice([0, 0, 1])
        )
        option = ", transpose_rhs=True" if transposed else ""
        text = f"I.matmul({lhs.text}, {rhs.text}{option}, acc_dtype=I.f32)"
        bound = (lhs.bound or 1) * (rhs.bound or 1) * LARGEST_EXTENT
        self.define(context, Term(text, "f32", context.shape, bound if bound <= LARGEST_SUM else None))

    def _helper(self, context: Context) -> None:
        """A helper with two parameters, applied to expressions of one shape."""
        dtype = self._number_dtype()
        body = f"a {self.expressions.pick('+-*')} b"
        if self.chance(0.5):
            body = f"I.select(a < b, {body}, {self.expressions.pick(['a', 'b'])})"
        name = self.helper("a, b", f"return {body}")
        shape = self._any_shape(context)
        lhs = self.expressions.expression(context, dtype, shape, 1)
        rhs = self.expressions.expression(context, dtype, self.expressions.some_shape(shape), 1)
        self.define(context, Term(f"{name}({lhs.text}, {aligned(rhs, shape)})", dtype, shape))

    # --------------------------------------------------------------------------------------------------------- control
    def _branch(self, context: Context) -> None:
        """A name defined on both sides of a runtime condition."""
        condition = self.expressions.expression(context, "bool", (), 2)
        dtype, shape, name = self.expressions.pick(COMPUTED), self._any_shape(context), self.fresh("v")
        self.emit(context, f"if {condition.text}:")
        inner = context.inner(context.axes)
        then = self.expressions.expression(inner, dtype, shape, 2)
        self.emit(inner, f"{name} = {then.text}")
        self.emit(context, "else:")
        other = self.expressions.expression(inner, dtype, shape, 2)
        self.emit(inner, f"{name} = {other.text}")
        bound = None if then.bound is None or other.bound is None else max(then.bound, other.bound)
        context.terms.append(Term(name, dtype, shape, bound))

    def _loop(self, context: Context) -> None:
        """An ordered loop with one carry, over an axis K or a fixed count, perhaps left early."""
        if context.ordered:
            return
        dtype, shape, carry = self._number_dtype(), self._any_shape(context), self.fresh("c")
        start = self.expressions.expression(context, dtype, shape, 1)
        self.emit(context, f"{carry} = {start.text}")
        variable = self.fresh("j")
        over_axis = self.chance(0.6)
        if over_axis:
            self.require("K")
        domain = "I.domain(0, K)" if over_axis and self.chance(0.5) else "range(K)" if over_axis else "range(3)"
        self.emit(context, f"for {variable} in {domain}:")
        axes = (*context.axes, Axis("K", _domain("K"), variable)) if over_axis else context.axes
        inner = context.inner(axes, ordered=True)
        inner.terms.append(Term(carry, dtype, shape))
        self._exit(inner)
        if self.chance(0.4):
            before = len(self.expressions.views)
            self._stage(inner)
            self.expressions.hide_outputs(before)
        step = self.expressions.expression(inner, dtype, shape, 2)
        self.emit(inner, f"{carry} = {step.text}")
        context.terms.append(Term(carry, dtype, shape))

    def _exit(self, context: Context) -> None:
        if self.chance(0.35):
            condition = self.expressions.expression(context, "bool", (), 2)
            self.emit(context, f"if {condition.text}:")
            self.emit(replace(context, depth=context.depth + 1), self.expressions.pick(["break", "continue"]))

    # ---------------------------------------------------------------------------------------------------------- stores
    def _store(self, context: Context) -> None:
        dtype = self.expressions.pick([*COMPUTED, "f32", "f32", *STORED_ONLY])
        shape = self._any_shape(context)
        value = self._stored_value(context, dtype, shape)
        symbols = [axis.symbol for axis in context.fixed] + list(shape)
        inexact = dtype in FLOATS and self.chance(0.15)
        text = self.random.choice(INEXACT).format(value.text) if inexact else value.text
        name = f"y{len(self.expressions.views)}"
        view = View(name, dtype, tuple(symbols), "Out", None if inexact else value.bound, inexact, not inexact)
        self.emit(context, f"{name}[{self._place(context, symbols)}] = {text}")
        self.expressions.views.append(view)

    def _place(self, context: Context, symbols: list[str]) -> str:
        axes = {axis.symbol: axis for axis in context.axes}
        items = [axes[symbol].variable or (":" if self.chance(0.3) else axes[symbol].domain) for symbol in symbols]
        return ", ".join(items) if items else "()"

    def _stored_value(self, context: Context, dtype: str, shape: Shape) -> Term:
        if dtype in STORED_ONLY:
            value = self.expressions.bounded(context, "f32", shape, limit=8)
            return Term(f"I.cast({value.text}, I.{dtype})", dtype, shape, 8)
        return self.expressions.expression(context, dtype, shape)

    def _update(self, context: Context) -> None:
        """A read-modify-write of an InOut view, perhaps under a condition."""
        dtype, shape = self._number_dtype(), self._any_shape(context)
        symbols = [axis.symbol for axis in context.fixed] + list(shape)
        name = f"z{len(self.expressions.views)}"
        place = self._place(context, symbols)
        inner = context
        if self.chance(0.4):
            condition = self.expressions.expression(context, "bool", (), 2)
            self.emit(context, f"if {condition.text}:")
            inner = context.inner(context.axes)
        value = self.expressions.expression(inner, dtype, shape, 2)
        if self.chance(0.5):
            self.emit(inner, f"{name}[{place}] += {value.text}")
        else:
            self.emit(inner, f"{name}[{place}] = {value.text} {self.expressions.pick('+-*')} {name}[{place}]")
        self.expressions.views.append(View(name, dtype, tuple(symbols), "InOut", None))


def _domain(symbol: str) -> str:
    """The name of a symbol's domain; a static extent has one too."""
    return symbol.lower() if not symbol.isdigit() else f"static{symbol}"


__all__ = ["RandomProgram", "SIGNED", "TOLERANCE", "random_program"]
