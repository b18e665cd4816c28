"""Leaving early: `break`, `continue` and `return` as conditions, so that there is one way through a block."""

from __future__ import annotations

from intent.dtypes import boolean
from intent.records import dataclass, field, replace
from translators.diagnostics import Rejected
from translators.intent_source.read import codes, rules
from translators.intent_source.read.operands import (
    EnumClass,
    EnumMember,
    Function,
    IntrinsicName,
    Keyword,
    Literal,
    Operand,
    Text,
    Token,
)
from translators.intent_source.read.scope import REFERENCES, Binding, Flag, Flow, Missing, Negated, Poisoned
from translators.intent_source.read.walker import Walker
from translators.logical.program import (
    Block,
    Constant,
    Full,
    If,
    Merge,
    Pointwise,
    Statement,
    Value,
)
from translators.logical.types import Scalar


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a runtime choice, after it was read."""

    statements: tuple[Statement, ...]
    names: dict[str, Binding]
    flow: Flow


def flag_value(walker: Walker, flag: Flag) -> Value:
    """The flag as a bool scalar."""
    match flag:
        case bool():
            return walker.builder.constant(flag, boolean)
        case Negated(value=value):
            return walker.builder.one(Pointwise("not", (value,)), Scalar(boolean))
        case _:
            return flag


def computed(walker: Walker, flow: Flow) -> Flow:
    """The flow with its negations computed, at the end of an arm: outside of it they could not be."""

    def positive(flag: Flag) -> Flag:
        return flag_value(walker, flag) if isinstance(flag, Negated) else flag

    left = positive(flow.left)
    broke = left if flow.broke == flow.left else positive(flow.broke)
    returned = left if flow.returned == flow.left else positive(flow.returned)
    return replace(flow, left=left, broke=broke, returned=returned)


def unified(
    walker: Walker, a: Operand, b: Operand, what: str, code: str
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The leaves of two operands of one schema; a difference is an error with this code."""
    try:
        return rules.unify(walker.builder, a, b, what)
    except Rejected as rejected:
        raise Rejected(replace(rejected.diagnostic, code=code)) from None


def join(walker: Walker, condition: Value, then: Arm, orelse: Arm, live: frozenset[str]) -> None:
    """Append the If of two arms; bind the names that are live after it, and merge how control left the arms."""
    merger = _Merger(walker, condition)
    if walker.frame.loops and not (then.flow.left is False and orelse.flow.left is False):
        live |= walker.frame.loops[-1].live  # a side that breaks takes its values along
    names = _merge_names(merger, then, orelse, live)
    flow = _merge_flow(merger, then.flow, orelse.flow)
    if then.statements or orelse.statements or merger.merges:
        blocks = Block(then.statements), Block(orelse.statements)
        walker.builder.statement(If(condition, *blocks, tuple(merger.merges), walker.builder.span))
    walker.frame.names = names
    walker.frame.flow = flow


@dataclass(slots=True)
class _Merger:
    """Collects the merges of one If. Constants that a merge takes are emitted before the If."""

    walker: Walker
    condition: Value
    merges: list[Value] = field(default_factory=list)
    flag_merges: dict[tuple[Flag, Flag], Value] = field(default_factory=dict)

    def values(self, true: Value, false: Value) -> Value:
        if true is false:
            return true
        merge = self.walker.builder.value(Merge(self.condition, true, false), true.type)
        self.merges.append(merge)
        return merge

    def flags(self, true: Flag, false: Flag) -> Flag:
        """A flag that is the condition itself, or its opposite, is known in either arm."""
        true, false = _known(true, self.condition, True), _known(false, self.condition, False)
        match true, false:
            case bool(), bool() if true == false:
                return true
            case True, False:
                return self.condition
            case False, True:
                return Negated(self.condition)
            case _:
                return self._merged_flag(true, false)

    def marks(self, true: Flag, false: Flag) -> Flag:
        """A flag whose value nobody asks for: certain, or not."""
        known = _known(true, self.condition, True)
        return known if isinstance(known, bool) and known == _known(false, self.condition, False) else self.condition

    def _merged_flag(self, true: Flag, false: Flag) -> Value:
        """`left`, `broke` and `returned` are often one flag: it is merged once."""
        if (true, false) not in self.flag_merges:
            sides = flag_value(self.walker, true), flag_value(self.walker, false)
            self.flag_merges[true, false] = self.values(*sides)
        return self.flag_merges[true, false]

    def operands(self, true: Operand, false: Operand, what: str, code: str) -> Operand:
        trues, falses = unified(self.walker, true, false, what, code)
        merged = tuple(self.values(a, b) for a, b in zip(trues, falses, strict=True))
        return rules.rebuild(true, merged)

    def or_absent(self, present: Operand, is_true: bool) -> Operand:
        """Merge an operand with an arm that has none and will never be asked for it: zeros stand in."""
        leaves = [rules.as_value(self.walker.builder, leaf) for leaf in rules.flatten(present)]
        zeros = [zero_like(self.walker, leaf) for leaf in leaves]
        pairs = zip(leaves, zeros, strict=True) if is_true else zip(zeros, leaves, strict=True)
        return rules.rebuild(present, tuple(self.values(a, b) for a, b in pairs))


def _known(flag: Flag, condition: Value, holds: bool) -> Flag:
    """The flag where the condition `holds`."""
    if flag is condition:
        return holds
    if isinstance(flag, Negated) and flag.value is condition:
        return not holds
    return flag


def zero_like(walker: Walker, value: Value) -> Value:
    """Zeros of a value's type."""
    dtype = value.dtype
    zero = walker.builder.one(Constant(False if dtype.kind == "bool" else 0.0 if dtype.is_float else 0), Scalar(dtype))
    return zero if value.is_scalar else walker.builder.one(Full(zero), value.type)


# --------------------------------------------------------------------------------------------------------------- names
def _merge_names(merger: _Merger, then: Arm, orelse: Arm, live: frozenset[str]) -> dict[str, Binding]:
    merged: dict[str, Binding] = {}
    for name in dict.fromkeys((*then.names, *orelse.names)):
        a, b = then.names.get(name), orelse.names.get(name)
        if a is not None and (a is b or _same(a, b)):
            merged[name] = a
        elif Poisoned() in (a, b):
            merged[name] = Poisoned()
        elif name in live:
            merged[name] = merger.walker.named(name, _merge_name(merger, name, (then, a), (orelse, b)))
        else:
            merged[name] = _DEAD
    return merged


def _same(a: Binding, b: Binding | None) -> bool:
    """Equal, also in the kind of a number: 1, 1.0 and True are equal to Python."""
    return a == b and repr(a) == repr(b)


# Of a name that no later statement of the block reads; a `break` beside it may still take a value along.
_DEAD = Missing("has no value here: it is assigned in a branch above")
_Side = tuple[Arm, Binding | None]


def _merge_name(merger: _Merger, name: str, then: _Side, orelse: _Side) -> Binding:
    a, b = then[1], orelse[1]
    if a is None or isinstance(a, Missing):
        if _never_read(then) and b is not None and is_runtime(b):
            return merger.or_absent(b, is_true=False)  # type: ignore[arg-type]
        return a if isinstance(a, Missing) else _undefined(b)
    if b is None or isinstance(b, Missing):
        if _never_read(orelse) and is_runtime(a):
            return merger.or_absent(a, is_true=True)  # type: ignore[arg-type]
        return b if isinstance(b, Missing) else _undefined(a)
    if not is_runtime(a) or not is_runtime(b):
        return Missing("is chosen by a runtime condition, which only values can be", "use it inside the branches")
    what = f"the values of '{name}' in the two branches"
    return merger.operands(a, b, what, codes.BRANCHES_DIFFER)  # type: ignore[arg-type]


def _never_read(side: _Side) -> bool:
    """Whether nobody asks for the side's value: control left, or the name is assigned again before it is read."""
    return side[0].flow.left is True or side[1] == _DEAD


def _undefined(other: Binding | None) -> Missing:
    if isinstance(other, Missing):
        return other
    return Missing("is assigned in one branch only", "assign it before the `if`, or in every branch")


def is_runtime(binding: Binding) -> bool:
    """Whether the binding consists of values and literals, which merges and carries are made of."""
    if isinstance(binding, REFERENCES):
        return False
    if isinstance(binding, (Keyword, Text, Token, EnumMember, EnumClass, Function, IntrinsicName)):
        return False
    return all(isinstance(leaf, (Value, Literal)) for leaf in rules.flatten(binding))


# ---------------------------------------------------------------------------------------------------------------- flow
def _merge_flow(merger: _Merger, a: Flow, b: Flow) -> Flow:
    frame = merger.walker.frame
    left = merger.marks if frame.tail else merger.flags
    ends = merger.flags if frame.loops else left  # of loops; only they and later statements ask
    return Flow(
        left=left(a.left, b.left),
        broke=ends(a.broke, b.broke),
        returned=ends(a.returned, b.returned),
        result=_merge_result(merger, a.result, b.result),
        bare=a.bare or b.bare,
    )


def _merge_result(merger: _Merger, a: Operand | None, b: Operand | None) -> Operand | None:
    match a, b:
        case None, None:
            return None
        case None, present if present is not None:
            return merger.or_absent(present, is_true=False)
        case present, None if present is not None:
            return merger.or_absent(present, is_true=True)
        case _:
            assert a is not None and b is not None
            return merger.operands(a, b, "the values that the helper returns", codes.RETURNS_DIFFER)
