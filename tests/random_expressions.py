"""Random typed expressions of the language, as source text with what a comparison needs to know about their values.

Two results are compared exactly, so floats that meet a sum, product chain or contraction are kept integer-valued and
small: `Term.bound` is their largest magnitude. What is elementwise rounds alike on both sides and needs no bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from intent.records import dataclass, field, replace

FLOATS = ("f32", "f64", "f16", "bf16")
SIGNED = ("i32", "i64", "i8", "i16")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
COMPUTED = ("f32",) * 5 + ("i32",) * 4 + ("f16", "bf16") * 2 + ("f64", "i64", "i8", "i16", *UNSIGNED) + ("bool",) * 2
STORED_ONLY = ("f8e5m2", "f8e4m3fn")
EXACT_INTEGERS = {"f64": 2**53, "f32": 2**24, "f16": 2**11, "bf16": 2**8}
BITS = {name: int(name[1:]) for name in INTEGERS} | {"f32": 32, "f64": 64, "f16": 16, "bf16": 16}
LARGEST_SUM = 2**20  # of magnitudes, so that every order of adding is exact in f32

Shape = tuple[str, ...]  # axes of the context, in its order; () is a scalar


@dataclass(frozen=True, slots=True)
class Term:
    """An expression: its text, dtype and axes. `bound`: integer-valued with at most this magnitude; None: anything."""

    text: str
    dtype: str
    shape: Shape = ()
    bound: int | None = None


@dataclass(slots=True)
class View:
    """A parameter. `bound` is what its elements keep; a view that was stored into is `written`."""

    name: str
    dtype: str
    shape: Shape
    direction: str
    bound: int | None
    inexact: bool = False
    readable: bool = True
    alias: str = ""  # views of one group are given one array
    constraints: str = ""  # what the annotation promises of the memory, as text
    stretched: bool = False  # the argument has a stride of zero along its last axis

    @property
    def annotation(self) -> str:
        extents = ", ".join(extent if extent.isdigit() else f'"{extent}"' for extent in self.shape)
        tail = "," if len(self.shape) == 1 else ""
        promise = self.promise("")
        return f"{self.name}: I.{self.direction}[I.{self.dtype}, ({extents}{tail}){', ' * bool(promise)}{promise}]"

    def promise(self, file: str) -> str:
        """The constraints as text; a constant of the file is looked up there."""
        if self.alias:
            return f'I.constraints(alias="{self.alias}")'
        defined = re.search(rf"^{re.escape(self.constraints)} = (.*)$", file, re.MULTILINE)
        return defined[1] if defined and self.constraints else self.constraints


@dataclass(frozen=True, slots=True)
class Axis:
    """One symbol of a context: a free axis of tensors (`variable` None), or fixed to a scalar loop variable."""

    symbol: str
    domain: str
    variable: str | None = None


@dataclass(slots=True)
class Context:
    """Where an expression stands: the addressed symbols and the names in scope."""

    axes: tuple[Axis, ...]
    terms: list[Term] = field(default_factory=list)
    depth: int = 0  # of indentation
    parallel: bool = False
    ordered: bool = False

    @property
    def shape(self) -> Shape:
        return tuple(axis.symbol for axis in self.axes if axis.variable is None)

    @property
    def fixed(self) -> tuple[Axis, ...]:
        return tuple(axis for axis in self.axes if axis.variable is not None)

    def inner(self, axes: tuple[Axis, ...], **changes: bool) -> Context:
        kept = [term for term in self.terms if set(term.shape) <= {axis.symbol for axis in axes if not axis.variable}]
        return replace(self, axes=axes, terms=kept, depth=self.depth + 1, **changes)


def rounded(bound: int | None, dtype: str) -> int | None:
    """The bound, if every integer within it is exact in the dtype."""
    return bound if bound is not None and bound <= EXACT_INTEGERS.get(dtype, 0) else None


def aligned(term: Term, shape: Shape) -> str:
    """The term's text, with new axes where trailing alignment to `shape` needs them."""
    if term.shape == shape[len(shape) - len(term.shape) :]:
        return term.text
    first = shape.index(term.shape[0])
    items = [":" if axis in term.shape else "None" for axis in shape[first:]]
    return f"({term.text})[{', '.join(items)}]"


@dataclass(slots=True)
class Expressions:
    """Draws expressions; creates the views they read."""

    random: Random
    views: list[View] = field(default_factory=list)
    scalars: list[Term] = field(default_factory=list)
    special_values: bool = False

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options: Sequence[str]) -> str:
        return self.random.choice(options)

    # -------------------------------------------------------------------------------------------------------- dispatch
    def expression(self, context: Context, dtype: str, shape: Shape, depth: int = 3) -> Term:
        if depth <= 0 or self.chance(0.2):
            return self.leaf(context, dtype, shape)
        if dtype == "bool":
            return self._bool(context, shape, depth - 1)
        return self._number(context, dtype, shape, depth - 1)

    def some_shape(self, shape: Shape) -> Shape:
        """A subset of the axes, to be broadcast."""
        return shape if self.chance(0.5) else tuple(axis for axis in shape if self.chance(0.5))

    def bounded(self, context: Context, dtype: str, shape: Shape, depth: int = 2, limit: int = 64) -> Term:
        """An integer-valued expression: clamped and floored unless it is known to be."""
        term = self.expression(context, dtype, shape, depth)
        if dtype not in FLOATS or (term.bound is not None and term.bound <= limit):
            return term
        return Term(f"I.floor(I.maximum_num(I.minimum_num({term.text}, 8.0), -8.0))", dtype, shape, 8)

    # ---------------------------------------------------------------------------------------------------------- leaves
    def leaf(self, context: Context, dtype: str, shape: Shape) -> Term:
        named = [term for term in context.terms if term.dtype == dtype and term.shape == shape]
        if named and self.chance(0.6):
            return self.random.choice(named)
        if not self._known(shape):
            return self.read(context, dtype, shape)
        if self.chance(0.12) and dtype not in ("bool", *STORED_ONLY):
            return self._coordinate(context, dtype, shape)
        if not shape and self.chance(0.3):
            return self.scalar(dtype)
        if shape and self.chance(0.08):
            extents = ", ".join(shape) + ("," if len(shape) == 1 else "")
            literal = self.literal(dtype)
            return Term(f"I.full(({extents}), {literal.text}, dtype=I.{dtype})", dtype, shape, literal.bound)
        return self.read(context, dtype, shape)

    def _known(self, shape: Shape) -> bool:
        """Every symbol has a view, from whose shape the kernel takes the extent."""
        return all(any(symbol in view.shape for view in self.views) for symbol in shape)

    def literal(self, dtype: str) -> Term:
        if dtype == "bool":
            return Term(self.pick(["True", "False"]), dtype)
        if dtype in FLOATS:
            text = self.pick(["2.0", "-3.0", "1.0", "0.5", "-0.75", "5.0", "I.inf" if self.chance(0.2) else "3.0"])
            return Term(text, dtype, (), 5 if text.endswith(".0") else None)
        return Term(self.pick(["1", "2", "3", "7", "100"] + (["-1", "-5"] if dtype in SIGNED else [])), dtype)

    def scalar(self, dtype: str) -> Term:
        """A runtime scalar parameter, or a literal made a value."""
        if self.chance(0.5):
            known = [term for term in self.scalars if term.dtype == dtype]
            if not known:
                known = [Term(f"s{len(self.scalars)}", dtype, (), 6 if dtype in FLOATS else None)]
                self.scalars.extend(known)
            return known[0]
        literal = self.literal(dtype)
        return replace(literal, text=f"I.cast({literal.text}, I.{dtype})")

    def _coordinate(self, context: Context, dtype: str, shape: Shape) -> Term:
        """Coordinates of an axis or loop variables, converted."""
        bound = rounded(100, dtype)
        if len(shape) == 1:
            domain = next(axis.domain for axis in context.axes if axis.symbol == shape[0])
            return Term(f"I.cast(I.indices({domain}), I.{dtype})", dtype, shape, bound)
        if not shape and context.fixed:
            return Term(f"I.cast({self.random.choice(context.fixed).variable}, I.{dtype})", dtype, (), bound)
        return self.read(context, dtype, shape)

    # ----------------------------------------------------------------------------------------------------------- reads
    def read(self, context: Context, dtype: str, shape: Shape) -> Term:
        view = self._view_for(context, dtype, shape)
        order = tuple(symbol for symbol in view.shape if symbol in shape)
        term = Term(self._access(context, view), dtype, order, view.bound)
        if order == shape:
            return term
        permutation = ", ".join(str(order.index(axis)) for axis in shape)
        return replace(term, text=f"I.transpose({term.text}, ({permutation}))", shape=shape)

    def _view_for(self, context: Context, dtype: str, shape: Shape) -> View:
        usable = [view for view in self.views if view.dtype == dtype and self._readable(context, view, shape)]
        if usable and self.chance(0.75):
            return self.random.choice(usable)
        fixed = [axis.symbol for axis in context.fixed if self.chance(0.8)]
        symbols = [*fixed, *shape]
        if self.chance(0.15):
            self.random.shuffle(symbols)
        special = dtype in FLOATS and self.special_values and self.chance(0.5)
        bound = 4 if dtype in (*FLOATS, *STORED_ONLY) and not special else None
        view = View(f"x{len(self.views)}", dtype, tuple(symbols), "In", bound)
        self.views.append(view)
        return view

    def hide_outputs(self, first: int) -> None:
        """Nothing reads the outputs from a view on: the loop that writes them may leave some elements alone."""
        self.views[first:] = [replace(v, readable=False) if v.direction == "Out" else v for v in self.views[first:]]

    def _readable(self, context: Context, view: View, shape: Shape) -> bool:
        """Its axes are exactly the wanted ones besides fixed symbols, and no other point may be writing it."""
        fixed = {axis.symbol for axis in context.fixed}
        if not view.readable or {symbol for symbol in view.shape if symbol not in fixed} != set(shape):
            return False
        return view.direction == "In" or not context.parallel or fixed <= set(view.shape)

    def _access(self, context: Context, view: View) -> str:
        if not view.shape:
            return f"{view.name}[()]"
        axes = {axis.symbol: axis for axis in context.axes}
        moved = view.direction == "In" or not (context.parallel or context.ordered)
        free = [symbol for symbol in view.shape if axes[symbol].variable is None]
        if moved and len(free) == 1 and self.chance(0.25):
            return self._displaced(view, axes, free[0])
        items = [axes[symbol].variable or self._whole(axes[symbol]) for symbol in view.shape]
        return f"{view.name}[{', '.join(items)}]"

    def _whole(self, axis: Axis) -> str:
        return ":" if self.chance(0.2) else axis.domain

    def _displaced(self, view: View, axes: dict[str, Axis], symbol: str) -> str:
        """A read at other coordinates of its one free axis: shifted, reversed, rotated, or looked up."""
        extent, at = symbol, f"I.indices({axes[symbol].domain})"
        shift = self.pick(["1", "2", "3"])
        form = self.pick(["left", "right", "reverse", "rotate", "lookup"])
        if form == "lookup":
            table = self._lookup_table(symbol)
            at = f"I.cast({table.name}[{axes[symbol].domain}], I.index)"
        index = {"left": f"{at} - {shift}", "right": f"{at} + {shift}", "reverse": f"{extent} - 1 - {at}",
                 "rotate": f"({at} + {shift}) % {extent}", "lookup": at}[form]  # fmt: skip
        items = [axes[each].variable or index for each in view.shape]
        place = ", ".join(str(item) for item in items)
        if form in ("reverse", "rotate"):
            return f"{view.name}[{place}]"
        valid = {"left": f"{index} >= 0", "right": f"{index} < {extent}"}
        condition = valid.get(form, f"({index} >= 0) & ({index} < {extent})")
        fill = f", fill={self._fill(view.dtype)}" if self.chance(0.5) else ""
        return f"I.gather({view.name}, ({place},), valid={condition}{fill})"

    def _fill(self, dtype: str) -> str:
        return "True" if dtype == "bool" else "2.0" if dtype in (*FLOATS, *STORED_ONLY) else "3"

    def _lookup_table(self, symbol: str) -> View:
        known = [view for view in self.views if view.name.startswith("at") and view.shape == (symbol,)]
        if not known:
            known = [View(f"at{len(self.views)}", "i32", (symbol,), "In", None)]
            self.views.extend(known)
        return known[0]

    # --------------------------------------------------------------------------------------------------------- numbers
    def _number(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        rules = self._float_rules() if dtype in FLOATS else self._integer_rules(dtype)
        return self.random.choice(rules)(context, dtype, shape, depth)

    def _float_rules(self) -> list[Callable[[Context, str, Shape, int], Term]]:
        arithmetic = [self._arithmetic] * 4
        rules = [*arithmetic, self._extremum, self._select, self._cast, self._divide, self._unary_float, self._scaled]
        return [*rules, self._choice, self._power]

    def _integer_rules(self, dtype: str) -> list[Callable[[Context, str, Shape, int], Term]]:
        rules = [self._arithmetic, self._arithmetic, self._bitwise, self._shift, self._floor_division]
        rules += [self._choice, self._power]
        return [*rules, self._extremum, self._select, self._cast, self._unary_integer, self._scaled]

    def pair(self, context: Context, dtype: str, shape: Shape, depth: int) -> tuple[Term, Term, str, str]:
        """Two operands whose joint shape is `shape`, and their aligned texts, in random order."""
        full = self.expression(context, dtype, shape, depth)
        other = self.expression(context, dtype, self.some_shape(shape), depth)
        lhs, rhs = (full, other) if self.chance(0.5) else (other, full)
        return lhs, rhs, aligned(lhs, shape), aligned(rhs, shape)

    def _arithmetic(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        lhs, rhs, left, right = self.pair(context, dtype, shape, depth)
        operator = self.pick("+-*")
        bound = None
        if lhs.bound is not None and rhs.bound is not None:
            bound = lhs.bound * rhs.bound if operator == "*" else lhs.bound + rhs.bound
        return Term(f"({left} {operator} {right})", dtype, shape, rounded(bound, dtype))

    def _scaled(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        """An operation with a literal, which takes the operand's dtype."""
        term, literal = self.expression(context, dtype, shape, depth), self.literal(dtype)
        operator = self.pick("+-*")
        bound = None
        if term.bound is not None and literal.bound is not None:
            bound = term.bound * literal.bound if operator == "*" else term.bound + literal.bound
        text = (
            f"({term.text} {operator} {literal.text})"
            if self.chance(0.6)
            else f"({literal.text} {operator} {term.text})"
        )
        return Term(text, dtype, shape, rounded(bound, dtype))

    def _extremum(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        lhs, rhs, left, right = self.pair(context, dtype, shape, depth)
        functions = ["maximum", "minimum"] + (["maximum_num", "minimum_num"] if dtype in FLOATS else [])
        bound = None if lhs.bound is None or rhs.bound is None else max(lhs.bound, rhs.bound)
        return Term(f"I.{self.pick(functions)}({left}, {right})", dtype, shape, bound)

    def _select(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        lhs, rhs, left, right = self.pair(context, dtype, shape, depth)
        condition = self.expression(context, "bool", self.some_shape(shape), depth)
        bound = None if lhs.bound is None or rhs.bound is None else max(lhs.bound, rhs.bound)
        return Term(f"I.select({aligned(condition, shape)}, {left}, {right})", dtype, shape, bound)

    def _choice(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        """Other spellings of a selection and of a sum; a pair of literals becomes a value of the widest type first."""
        lhs, rhs, left, right = self.pair(context, dtype, shape, depth)
        bound = None if lhs.bound is None or rhs.bound is None else lhs.bound + rhs.bound
        if self.chance(0.3):
            return Term(f"I.add({left}, {right})", dtype, shape, rounded(bound, dtype))
        condition = aligned(self.expression(context, "bool", shape, depth), shape)
        form = self.pick(["conditional", "mask", "literals"])
        if form == "mask":
            return Term(f"I.mask({left}, {condition}, {right})", dtype, shape, rounded(bound, dtype))
        if form == "conditional":
            return Term(f"({left} if {condition} else {right})", dtype, shape, rounded(bound, dtype))
        numbers = "1.0, -2.0" if dtype in FLOATS else "1, 2"
        return Term(f"I.cast(I.select({condition}, {numbers}), I.{dtype})", dtype, shape, rounded(2, dtype))

    def _power(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        """Integers wrap; floats stay exact."""
        power = self.pick("23")
        if dtype in FLOATS:
            term = self.bounded(context, dtype, shape, depth, limit=8)
            return Term(f"({term.text} ** {power})", dtype, shape, rounded((term.bound or 8) ** int(power), dtype))
        term = self.expression(context, dtype, shape, depth)
        return Term(f"({term.text} ** {power})", dtype, shape)

    def _divide(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        _, _, left, right = self.pair(context, dtype, shape, depth)
        # An extremum of -0.0 and 0.0 may be either; adding 0.0 hides which.
        return Term(f"({left} / ({right} + 0.0))", dtype, shape)

    def _unary_float(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        term = self.expression(context, dtype, shape, depth)
        form = self.pick(["-{}", "I.abs({})", "I.floor({})", "I.sqrt(I.abs({}))"])
        kept = None if "sqrt" in form else term.bound
        return Term(f"({form.format(term.text)})" if form[0] == "-" else form.format(term.text), dtype, shape, kept)

    def _unary_integer(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        term = self.expression(context, dtype, shape, depth)
        forms = ["(~{})"] + (["(-{})", "I.abs({})"] if dtype in SIGNED else [])
        return Term(self.pick(forms).format(term.text), dtype, shape)

    def _bitwise(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        _, _, left, right = self.pair(context, dtype, shape, depth)
        return Term(f"({left} {self.pick('&|^')} {right})", dtype, shape)

    def _shift(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        _, _, left, right = self.pair(context, dtype, shape, depth)
        return Term(f"({left} {self.pick(['<<', '>>'])} ({right} & {BITS[dtype] - 1}))", dtype, shape)

    def _floor_division(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        """The divisor is made nonzero, and not -1."""
        _, _, left, right = self.pair(context, dtype, shape, depth)
        divisor = f"(({right} & 7) + 1)"
        if dtype in SIGNED and self.chance(0.3):
            divisor = f"(-(({right} & 7) + 2))"
        return Term(f"({left} {self.pick(['//', '%'])} {divisor})", dtype, shape)

    def _cast(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        if dtype in INTEGERS:
            return self._cast_to_integer(context, dtype, shape, depth)
        source = self.pick([*FLOATS, *INTEGERS, "bool", *STORED_ONLY])
        if source in STORED_ONLY:
            term = self.read(context, source, shape)
        else:
            term = self.expression(context, source, shape, depth)
        bound = {"bool": 1, "i8": 128, "u8": 255}.get(source, term.bound)
        return Term(f"I.cast({term.text}, I.{dtype})", dtype, shape, rounded(bound, dtype))

    def _cast_to_integer(self, context: Context, dtype: str, shape: Shape, depth: int) -> Term:
        """Floats are clamped to what every target holds; other integers wrap."""
        source = self.pick([*FLOATS, *INTEGERS, "bool"])
        if source == "f32" and dtype in ("i32", "u32") and self.chance(0.4):
            return Term(f"I.bitcast({self.read(context, 'f32', shape).text}, I.{dtype})", dtype, shape)
        term = self.expression(context, source, shape, depth)
        text = term.text
        if source in FLOATS:
            low = "-8.0" if dtype in SIGNED else "0.0"
            text = f"I.maximum_num(I.minimum_num({text}, 100.0), {low})"
        return Term(f"I.cast({text}, I.{dtype})", dtype, shape)

    # ----------------------------------------------------------------------------------------------------------- bools
    def _bool(self, context: Context, shape: Shape, depth: int) -> Term:
        form = self.pick(["compare", "compare", "logic", "not", "read", "between", "cast", "equal"])
        if form == "between":
            dtype = self.pick(["f32", "i32", "i64", "f16", "u8"])
            value = self.expression(context, dtype, shape, depth)
            low, high = ("-1.0", "2.0") if dtype in FLOATS else ("1", "9")
            return Term(f"({low} {self.pick(['<', '<='])} {value.text} < {high})", "bool", shape)
        if form == "cast":
            value = self.expression(context, self.pick(["i32", "f32", "u8", "f16", "i64"]), shape, depth)
            return Term(f"I.cast({value.text}, I.bool)", "bool", shape)
        if form == "equal":
            text = self.expression(context, "bool", shape, depth).text
            return Term(f"({text} {self.pick(['==', '!='])} {self.pick(['True', 'False'])})", "bool", shape)
        if form == "compare":
            dtype = self.pick(COMPUTED)
            _, _, left, right = self.pair(context, dtype, shape, depth)
            operators = ["==", "!="] if dtype == "bool" else ["<", "<=", ">", ">=", "==", "!="]
            return Term(f"({left} {self.pick(operators)} {right})", "bool", shape)
        if form == "logic":
            _, _, left, right = self.pair(context, "bool", shape, depth)
            operators = ["&", "|", "^", "and", "or"]
            return Term(f"({left} {self.pick(operators)} {right})", "bool", shape)
        if form == "not":
            return Term(f"(not {self.expression(context, 'bool', shape, depth).text})", "bool", shape)
        return self.leaf(context, "bool", shape)
