"""What a function that combines elements is good for: whether it may be reordered, and what its identity is.

Triton demands an associative function, and takes elements in an order of its own; a reduction of the language also
has an identity. Both are tried on numbers: a function that fails is refused. Some functions are good for numbers of at
least 1 in some components only, as where a count divides; then the arrays that these come from must hold such numbers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from intent.dtypes import DType
from intent.records import dataclass
from translators.lifting.context import Context
from translators.lifting.evaluation import Evaluator, Number, Value
from translators.lifting.neutral import neutral
from translators.lifting.sinks import Residue, Sink
from translators.tile.expression import REDUCTIONS, Combine, Expression, having, walk

TRIALS: Final = 24
LARGEST: Final = 4  # of the numbers tried, so that equal ones occur
Element = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A function with the numbers to try it on; `counted` are the components that are at least 1."""

    combine: Combine
    elements: tuple[Element, ...]

    def joined(self, left: Element, right: Element) -> Element:
        evaluator = Evaluator(given=(*left, *right))
        return tuple(evaluator.value(result, {}) for result in self.combine.results)

    def reorders(self) -> bool:
        for first, second, third in zip(self.elements, self.elements[1:], self.elements[2:], strict=False):
            pair = self.joined(first, second)
            if not _alike(pair, self.joined(second, first)):
                return False
            if not _alike(self.joined(pair, third), self.joined(first, self.joined(second, third))):
                return False
        return True

    def keeps(self, identity: Element) -> bool:
        """Whether an element stays itself when it is combined with this one."""
        both = (self.joined(*pair) for each in self.elements for pair in ((identity, each), (each, identity)))
        wanted = (each for each in self.elements for _ in range(2))
        return all(_alike(made, each) for made, each in zip(both, wanted, strict=True))


def tried(combine: Combine, identity: Element, infinite: bool = False) -> frozenset[int] | None:
    """The components that have to be at least 1 for the function to be what a reduction needs; None if it never is.

    Only what the function divides by may have to be. `infinite`: it is tried on infinities too.
    """
    if infinite:
        return frozenset() if _good(combine, identity, frozenset(), infinite=True) else None
    divisors = _divisors(combine)
    for counted in dict.fromkeys((frozenset[int](), divisors)):
        if _good(combine, identity, counted):
            for position in sorted(counted):
                if _good(combine, identity, counted - {position}):
                    counted -= {position}
            return counted
    return None


def _divisors(combine: Combine) -> frozenset[int]:
    """The float components from which something is computed that the function divides by."""
    found: set[int] = set()
    for node in walk(*combine.results):
        if node.operation == "pointwise" and node.attribute[0] == "divide":
            below = (each for each in walk(node.arguments[1]) if each.operation == "argument")
            found.update(each.attribute % combine.arity for each in below)
    return frozenset(position for position in found if combine.results[position].dtype.is_float)


def _good(combine: Combine, identity: Element, counted: frozenset[int], infinite: bool = False) -> bool:
    generator = random.Random(7)
    dtypes = [result.dtype for result in combine.results]
    elements = tuple(
        tuple(_number(dtype, position in counted, generator) for position, dtype in enumerate(dtypes))
        for _ in range(TRIALS)
    )
    if infinite:
        elements = tuple(
            tuple(
                generator.choice((value, value, -math.inf, math.inf)) if dtype.is_float else value
                for value, dtype in zip(element, dtypes, strict=True)
            )
            for element in elements
        )
    trial = Trial(combine, elements)
    return trial.keeps(identity) and trial.reorders()


def _number(dtype: DType, counted: bool, generator: random.Random) -> Value:
    if dtype.kind == "bool":
        return generator.random() < 0.5
    low = 1 if counted else -LARGEST if dtype.is_float or dtype.is_signed else 0
    chosen = generator.randint(low, LARGEST)
    return chosen + generator.choice((0.0, 0.0, 0.5)) * (chosen < LARGEST) if dtype.is_float else chosen


def _alike(left: Element, right: Element) -> bool:
    return all(map(_same, left, right))


def _same(left: Value, right: Value) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return False
    return left == right or math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-4) or (left != left and right != right)


# ----------------------------------------------------------------------------------------------------------- identities
def settle(context: Context, sinks: Sequence[Sink]) -> None:
    """Every function has an identity, or the kernel is not lifted."""
    for sink in sinks:
        for node in having(REDUCTIONS, *sink.roots):
            if node.operation == "reduce" and node.attribute.combine is not None:
                _settle(context, node, sink.line)


def _settle(context: Context, node: Expression, line: int) -> None:
    combine: Combine = node.attribute.combine
    if combine not in context.identities and not any(
        is_identity(context, node, each, infinite)
        for infinite in (True, False)  # an identity of every number comes first
        for each in _candidates(context, combine)
    ):
        raise Residue(f"a reduction by '{combine.name}', which has no identity or depends on the order", line)


def _candidates(context: Context, combine: Combine) -> Iterator[tuple[Number, ...]]:
    """0, 1 and what no number is below or above, for each component."""
    if combine.arity > 3:
        return
    kinds = ("sum", "max", "min", "product")
    made = []
    for result in combine.results:
        several = kinds if result.dtype.kind != "bool" else ("any", "all")
        made.append([neutral(context.arena, kind, result).attribute for kind in several])
    yield from product(*made)


def is_identity(context: Context, node: Expression, identity: Sequence[Number], infinite: bool = False) -> bool:
    """Whether these numbers, combined with an element, leave it as it is; noted, with what that rests on."""
    combine: Combine = node.attribute.combine
    known = context.identities.get(combine)
    if known is not None:
        return known == tuple(identity)
    counted = tried(combine, tuple(identity), infinite)
    if counted is None:
        return False
    context.identities[combine] = tuple(identity)
    context.ledger.add("assumed", f"{combine.name} may take elements in any order, as a reduction does")
    for position in sorted(counted):
        for pointer in sorted(_sources(node.arguments[position])):
            context.counted.add(pointer)
            context.ledger.add("assumed", f"elements of {pointer} are at least 1: {combine.name} divides by them")
    return True


def _sources(body: Expression) -> Iterator[str]:
    """The pointers whose elements are the value itself."""
    match body.operation:
        case "load":
            yield body.attribute.pointer
        case "cast":
            yield from _sources(body.arguments[0])
        case "select":
            for each in body.arguments[1:]:
                yield from _sources(each)
        case _:
            pass
