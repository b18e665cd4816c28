"""Whether two kernels are one program: the verdict, and the first difference if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Literal

from intent.records import dataclass, replace
from translators.comparison.canonical import Canonical, Names, Scope, Unclear
from translators.comparison.effects import Stored, effects
from translators.comparison.interface import Matching, Mismatch, match
from translators.comparison.rules import Rules
from translators.comparison.show import short
from translators.comparison.sides import Side
from translators.comparison.terms import Term
from translators.diagnostics import Rejected, Span
from translators.logical.program import Kernel
from translators.logical.types import Memory
from translators.planning.demand import Demand
from translators.planning.sinks import MustPin

Answer = Literal["same", "same up to permitted reassociation", "different", "could not tell"]
PERMITTED = (  # numerics that are named, and let pass
    "a NaN:", "Triton's fast f32 approximation", "fma:", "atomic updates come in any order",
)  # fmt: skip
FINITE = "what is multiplied by a masked 0 is finite"  # as a lift assumes it
COMMUTING = ("add", "multiply", "and", "or", "xor", "equal", "maximum", "minimum")


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs first: its kind, and how each side says it, with the line it stands in."""

    kind: str
    first: str
    second: str
    first_line: int = 0
    second_line: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`provisos` are what a `same` rests on, `numerics` what differs in rounding or special values only."""

    answer: Answer
    reason: str | None = None
    difference: Difference | None = None
    provisos: tuple[str, ...] = ()
    numerics: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def holds(self) -> bool:
        return self.answer.startswith("same")


@dataclass(frozen=True, slots=True)
class Form:
    """The canonical form of a kernel. Two kernels whose forms are equal are one program."""

    effects: tuple[Stored, ...]
    requirements: tuple[str, ...]
    cut: bool  # whether the form is another one if subregions are cut to their sources

    @property
    def keys(self) -> tuple[str, ...]:
        return (*(each.term.key for each in self.effects), *self.requirements)


def form(kernel: Kernel, names: Names, relaxed: bool = False, finite: bool = False, clipped: bool = False) -> Form:
    """`relaxed` and `finite` are permissions of `Rules`, `clipped` of `Canonical`.

    Raises Unclear, or Rejected for a kernel that the planner does not understand.
    """
    demand = _demand(kernel)
    canonical = Canonical(demand, names, Rules(relaxed=relaxed, finite=finite), clipped)
    found = effects(canonical)
    return Form(found, tuple(sorted(_requirements(canonical))), canonical.cut)


def _demand(kernel: Kernel) -> Demand:
    pinned: frozenset[Memory] = frozenset()
    while True:
        demand = Demand(kernel, pinned)
        try:
            demand.collect()
        except MustPin as found:
            pinned |= {found.memory}
        else:
            return demand


def _requirements(canonical: Canonical) -> Iterator[str]:
    """Equations between sizes that a reshape needs."""
    for left, right in canonical.demand.requirements:
        sides = sorted(short(canonical.integer(each, Scope())) for each in (left, right))
        if sides[0] != sides[1]:
            yield " = ".join(sides)


# ------------------------------------------------------------------------------------------------------------- verdict
def compare(first: Side, second: Side) -> Verdict:
    """Never raises for what the kernels contain."""
    try:
        matching = match(first, second)
        return _compare(first, second, matching)
    except Mismatch as found:
        if found.certain:
            first_half, _, second_half = found.reason.partition(" against ")
            return Verdict("different", "the parameters differ", Difference("parameters", first_half, second_half))
        return Verdict("could not tell", f"the parameters could not be matched: {found.reason}")
    except Unclear as found:
        return Verdict("could not tell", str(found))
    except Rejected as found:
        return Verdict("could not tell", found.diagnostic.message)
    except RecursionError:
        return Verdict("could not tell", "the expressions are nested too deeply")


def _compare(first: Side, second: Side, matching: Matching) -> Verdict:
    pairs = tuple(matching.pairs)
    finite = any(FINITE in note.text for side in (first, second) if side.origin for note in side.origin.lifted.notes)
    strict = _forms(first, second, matching, False, finite)
    provisos = (*matching.provisos, *_assumptions(first, second))
    if first.language != second.language:  # only one of the languages states what a reshape needs
        stated = sorted({each for side in strict for each in side.requirements})
        provisos = (*provisos, *(f"{each}, as a reshape needs" for each in stated))
    numerics = _numerics(first, second)
    barred = [each for each in numerics if not any(said in each for said in PERMITTED)]
    if _alike(first, second, strict):
        if barred:
            return Verdict("different", "only numerics differ", None, provisos, numerics, pairs)
        return Verdict("same", None, None, provisos, numerics, pairs)
    relaxed = _forms(first, second, matching, True, finite)
    if _alike(first, second, relaxed) and not barred:
        return Verdict("same up to permitted reassociation", None, None, provisos, numerics, pairs)
    return Verdict("different", None, difference(*relaxed), (), numerics, pairs)


def _forms(first: Side, second: Side, matching: Matching, relaxed: bool, finite: bool) -> list[Form]:
    """Of both sides: as they stand, or if they differ then with subregions cut to their sources."""
    both = [(first, matching.first), (second, matching.second)]
    made = [form(side.kernel, names, relaxed, finite) for side, names in both]
    if not _alike(first, second, made) and any(each.cut for each in made):
        return [form(side.kernel, names, relaxed, finite, True) for side, names in both]
    return made


def _alike(first: Side, second: Side, forms: Sequence[Form]) -> bool:
    """Whether the forms are equal; what reshapes require counts if both languages state it."""
    one, other = forms
    if first.language != second.language:
        one, other = replace(one, requirements=()), replace(other, requirements=())
    return one.keys == other.keys


def _assumptions(first: Side, second: Side) -> Iterator[str]:
    """What the lifts of Triton kernels assume."""
    ones, others = (
        [note.text for note in side.origin.lifted.notes if note.basis == "assumed"] if side.origin is not None else []
        for side in (first, second)
    )
    yield from (f"{text} (both)" if text in others else f"{text} (first)" for text in ones)
    yield from (f"{text} (second)" for text in others if text not in ones)


def _numerics(first: Side, second: Side) -> tuple[str, ...]:
    """Remarks that only one side has; the order of sums is for both to choose."""
    ones, others = (set(side.origin.lifted.numerics) if side.origin is not None else set() for side in (first, second))
    made = [f"{each} (first)" for each in sorted(ones - others)] + [
        f"{each} (second)" for each in sorted(others - ones)
    ]
    return tuple(each for each in made if not each.startswith("sums may be taken"))


# ---------------------------------------------------------------------------------------------------------- difference
def difference(first: Form, second: Form) -> Difference:
    """The first effect that differs, down to what differs in it."""
    for one, other in zip_longest(first.effects, second.effects):
        if one is None or other is None or one.memory != other.memory:
            return _missing(one, other)
        if one.term != other.term:
            return _within(one.term, other.term, (one.span, other.span))
    required, also = ("; ".join(each.requirements) or "nothing" for each in (first, second))
    return Difference("what reshapes require of sizes", required, also)


def _missing(one: Stored | None, other: Stored | None) -> Difference:
    if other is None or (one is not None and one.memory < other.memory):
        assert one is not None
        return Difference("effect", short(one.term), "no such effect", one.span.line, 0)
    return Difference("effect", "no such effect", short(other.term), 0, other.span.line)


def _within(one: Term, other: Term, spans: tuple[Span, Span]) -> Difference:
    spans = (one.span or spans[0], other.span or spans[1])
    if _comparable(one, other):
        pairs = _differing(one, other)
        if len(pairs) == 1 or (pairs and one.function not in COMMUTING):
            return _within(*pairs[0], spans)
    return Difference(_kind(one, other), short(one), short(other), spans[0].line, spans[1].line)


def _comparable(one: Term, other: Term) -> bool:
    same = one.operation == other.operation and one.dtype == other.dtype and len(one.operands) == len(other.operands)
    return same and one.operation not in ("integer", "bound") and _said(one) == _said(other)


def _said(term: Term) -> tuple[object, ...]:
    """The detail without heights, which nested binders change."""
    return term.detail[:-1] if term.operation in ("reduce", "scan", "equation", "effect", "system") else term.detail


def _differing(one: Term, other: Term) -> list[tuple[Term, Term]]:
    if one.function in COMMUTING:
        left = [each for each in one.operands if each not in other.operands]
        right = [each for each in other.operands if each not in one.operands]
        return list(zip(left, right, strict=False)) if len(left) == len(right) else []
    return [pair for pair in zip(one.operands, other.operands, strict=True) if pair[0] != pair[1]]


def _kind(one: Term, other: Term) -> str:
    if one.dtype != other.dtype:
        return "dtype"
    operations = {one.operation, other.operation}
    if operations == {"constant"}:
        return "constant"
    if operations <= {"integer", "bound", "constant"}:
        return "coordinate or size"
    if operations == {"reduce"}:
        return "reduction"
    if operations == {"load"}:
        return "read"
    if operations == {"effect"}:
        return "effect"
    if "carried" in operations or "system" in operations:
        return "loop"
    return "operation"
