"""Random numbers that a kernel computes itself: ten rounds of Philox are words of the language's own generator.

The rounds are known by what they compute, however they are written. Integers of 32 bits have a canonical form: sums
with coefficients modulo 2**32, exclusive ors of a set, and upper halves of products. A counter block (c0, c1, 0, 0)
and a key (k0, k1) are read off the form of the first two rounds; the generator is then computed from them in canonical
form, and a value is word w of block c0 + 2**32 * c1 if, and only if, its form is the form of that word.

(Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from intent import dtypes as d
from intent.records import dataclass, field, replace
from translators.algebra.polynomial import Atom, Polynomial, Quotient, Remainder, atomic, floor_divide, number
from translators.tile.effects import KernelEffects, LoopCarry, LoopRecord, StoreEffect
from translators.tile.expression import Arena, Expression, walk
from translators.tile.substitution import Rebuilding, as_index

ROUNDS: Final = 10
WORDS: Final = 4
_BASE: Final = 1 << 32
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_SMALL: Final = "the lower word of a random counter or seed is taken not to overflow"
Form = int  # a canonical form, by its number
State = tuple[Form, Form, Form, Form]
Key = tuple[Form, Form]


@dataclass(slots=True)
class Forms:
    """Canonical forms of integers modulo 2**32. Equal forms are equal numbers.

    A form is a sum of forms that are no sums, each with its coefficient; a constant is a multiple of the form `one`.
    """

    numbers: dict[object, Form] = field(default_factory=dict)
    sums: dict[Form, dict[Form, int]] = field(default_factory=dict)
    exclusive: dict[Form, frozenset[Form]] = field(default_factory=dict)
    upper: dict[Form, tuple[Form, int]] = field(default_factory=dict)  # what is multiplied, and by which constant
    known: dict[Expression, Form] = field(default_factory=dict)
    small: dict[Form, Polynomial] = field(default_factory=dict)  # coordinates that are taken to be below 2**32
    one: Form = field(init=False)

    def __post_init__(self) -> None:
        self.one = self.primitive("one")

    def primitive(self, of: object) -> Form:
        found = self.numbers.get(of)
        if found is None:
            found = self.numbers[of] = len(self.numbers)
            self.sums[found] = {found: 1}
        return found

    def constant(self, value: int) -> Form:
        return self.sum({self.one: value})

    def sum(self, coefficients: dict[Form, int]) -> Form:
        kept = {form: factor % _BASE for form, factor in coefficients.items() if factor % _BASE}
        if len(kept) == 1 and 1 in kept.values():
            return next(iter(kept))
        made = self.numbers.setdefault(("sum", frozenset(kept.items())), len(self.numbers))
        self.sums[made] = kept
        return made

    def value(self, form: Form) -> int | None:
        parts = self.sums[form]
        return parts.get(self.one, 0) if parts.keys() <= {self.one} else None

    def combined(self, first: Form, second: Form, factor: int = 1) -> Form:
        """first + factor * second."""
        made = dict(self.sums[first])
        for form, times in self.sums[second].items():
            made[form] = made.get(form, 0) + factor * times
        return self.sum(made)

    def scaled(self, form: Form, factor: int) -> Form:
        return self.sum({each: times * factor for each, times in self.sums[form].items()})

    def exclusive_or(self, *parts: Form) -> Form:
        """Of a set: what occurs twice goes, and constants are one."""
        value, kept = 0, frozenset[Form]()
        for part in parts:
            known = self.value(part)
            value ^= known or 0
            kept ^= self.exclusive.get(part, frozenset((part,))) if known is None else frozenset()
        for form in kept:
            value ^= self.value(form) or 0
        kept = frozenset(form for form in kept if self.value(form) is None)
        if value or not kept:
            kept |= {self.constant(value)} if value else frozenset()
        if len(kept) < 2:
            return next(iter(kept), self.constant(0))
        made = self.primitive(("exclusive or", kept))
        self.exclusive[made] = kept
        return made

    def upper_half(self, form: Form, factor: int) -> Form:
        """Of the product with a constant, both taken as unsigned."""
        known = self.value(form)
        if known is not None:
            return self.constant(known * factor >> 32)
        made = self.primitive(("upper half", form, factor))
        self.upper[made] = (form, factor)
        return made

    # ----------------------------------------------------------------------------------------- forms of expressions
    def of(self, node: Expression) -> Form:
        found = self.known.get(node)
        if found is None:
            found = self.known[node] = self._of(node)
        return found

    def _of(self, node: Expression) -> Form:
        match node.operation, node.arguments:
            case "constant", () if node.dtype.is_integer:
                return self.constant(node.attribute)
            case "index", ():
                return self._of_polynomial(node.attribute)
            case "cast" | "bitcast", (inner,) if inner.dtype.is_integer:
                return self._converted(inner)
            case "pointwise", (left, right):
                return self._pointwise(node, left, right)
            case _:
                return self.primitive(node)

    def _converted(self, inner: Expression) -> Form:
        """The lower half of a wide number, or a number whose conversion may have changed its upper bits only."""
        if inner.dtype.bits < 32:
            return self.primitive(("converted", inner))  # to more bits: which ones depends on its sign
        factors = _factors_of_upper_half(inner)
        if factors is not None:
            forms = [self.of(each) for each in factors]
            for form, other in (forms, forms[::-1]):
                factor = self.value(other)
                if factor is not None:
                    return self.upper_half(form, factor)
        return self.of(inner)

    def _pointwise(self, node: Expression, left: Expression, right: Expression) -> Form:
        """Of numbers of 32 bits and more, whose lower 32 bits are those of the operands' lower 32 bits."""
        function = node.attribute[0]
        if not node.dtype.is_integer or node.dtype.bits < 32:
            return self.primitive(node)
        match function:
            case "add" | "subtract":
                return self.combined(self.of(left), self.of(right), 1 if function == "add" else -1)
            case "xor":
                return self.exclusive_or(self.of(left), self.of(right))
            case "multiply":
                forms = self.of(left), self.of(right)
                for form, other in (forms, forms[::-1]):
                    factor = self.value(other)
                    if factor is not None:
                        return self.scaled(form, factor)
            case "and":
                forms = self.of(left), self.of(right)
                if _BASE - 1 in map(self.value, forms):
                    return forms[1] if self.value(forms[0]) == _BASE - 1 else forms[0]
        return self.primitive(node)

    def _of_polynomial(self, polynomial: Polynomial) -> Form:
        for monomial, factor in polynomial.terms:
            atom = monomial[0] if len(monomial) == factor == 1 else None
            if isinstance(atom, Quotient) and atom.denominator == number(_BASE):
                upper = self._upper_half_of(atom.numerator + (polynomial - atomic(atom)) * _BASE)
                if upper is not None:
                    return upper
        made: dict[Form, int] = {}
        for monomial, factor in polynomial.terms:
            for form, times in self.sums[self._of_monomial(monomial)].items():
                made[form] = made.get(form, 0) + factor * times
        return self.sum(made)

    def _of_monomial(self, monomial: Sequence[object]) -> Form:
        match tuple(monomial):
            case ():
                return self.one
            case (Expression() as node,) if node.operation != "index":
                return self.of(node)
            case (Remainder(numerator=numerator, denominator=denominator),) if denominator == number(_BASE):
                return self._of_polynomial(numerator)
            case atoms:
                return self.primitive(("product", atoms))

    def _upper_half_of(self, whole: Polynomial) -> Form | None:
        """Of a product of a coordinate, and of one of the generator's factors."""
        for factor in _MULTIPLIERS:
            coordinate = whole.divided_by(number(factor))
            if coordinate is not None:
                form = self._of_polynomial(coordinate)
                self.small[form] = coordinate
                return self.upper_half(form, factor)
        return None


def _factors_of_upper_half(node: Expression) -> tuple[Expression, Expression] | None:
    """(a, b) of (a * b) >> 32, where both are numbers of 32 bits in an unsigned product of 64."""
    match node.operation, node.arguments:
        case "pointwise", (wide, Expression(operation="constant", attribute=32)) if node.attribute[0] == "shift_right":
            pass
        case _:
            return None
    if wide.dtype != d.u64 or wide.operation != "pointwise" or wide.attribute[0] != "multiply":
        return None
    first, second = wide.arguments
    return (first, second) if _is_narrow(first) and _is_narrow(second) else None


def _is_narrow(node: Expression) -> bool:
    """Whether a number of 64 bits is below 2**32."""
    if node.operation == "constant":
        return node.attribute in range(_BASE)
    return node.operation == "cast" and node.arguments[0].dtype == d.u32


# -------------------------------------------------------------------------------------------------------- generator
def _round(forms: Forms, state: State, key: Key) -> State:
    c0, c1, c2, c3 = state
    first, second = _MULTIPLIERS
    return (
        forms.exclusive_or(forms.upper_half(c2, second), c1, key[0]),
        forms.scaled(c2, second),
        forms.exclusive_or(forms.upper_half(c0, first), c3, key[1]),
        forms.scaled(c0, first),
    )


def _next_key(forms: Forms, key: Key, steps: int = 1) -> Key:
    first, second = (forms.combined(each, forms.one, steps * step) for each, step in zip(key, _KEY_STEPS, strict=True))
    return first, second


def _words(forms: Forms, low: Form, high: Form, key: Key) -> State:
    zero = forms.constant(0)
    state: State = (low, high, zero, zero)
    for _ in range(ROUNDS):
        state = _round(forms, state, key)
        key = _next_key(forms, key)
    return state


@dataclass(frozen=True, slots=True)
class _Block:
    """A counter of two words, a key of two words, and the four words that they give."""

    low: Form
    high: Form
    key: Key
    words: State


def _blocks(forms: Forms) -> Iterator[_Block]:
    """Every block whose first two rounds are among the forms."""
    first, second = _MULTIPLIERS
    multiplied = {factor: {form for form, other in forms.upper.values() if other == factor} for factor in _MULTIPLIERS}
    keys = [_keys(forms, step) for step in _KEY_STEPS]
    for k0, k1 in product(*keys):
        key = _next_key(forms, (k0, k1))
        for low in tuple(multiplied[first]):
            upper = forms.exclusive_or(forms.upper_half(low, first), k1)
            if upper not in multiplied[second]:
                continue
            for word in tuple(multiplied[first]):  # of the state after one round
                both = (forms.upper_half(word, first), forms.scaled(low, first), key[1])
                if forms.exclusive_or(*both) in multiplied[second]:
                    high = forms.exclusive_or(word, k0)
                    yield _Block(low, high, (k0, k1), _words(forms, low, high, (k0, k1)))


def _keys(forms: Forms, step: int) -> list[Form]:
    """Forms that occur with one step of the key schedule added; 0 is one."""
    found = [forms.constant(0)]
    for parts in tuple(forms.sums.values()):
        if parts.get(forms.one) == step and len(parts) > 1:
            found.append(forms.sum({form: factor for form, factor in parts.items() if form != forms.one}))
    return list(dict.fromkeys(found))


# ------------------------------------------------------------------------------------------------------- kernels
@dataclass(slots=True)
class Generators:
    """Replaces words of the generator in what a kernel computes."""

    arena: Arena
    forms: Forms = field(default_factory=Forms)
    remarks: list[str] = field(default_factory=list)

    def replaced(
        self, stores: Sequence[StoreEffect], records: Sequence[LoopRecord]
    ) -> tuple[tuple[StoreEffect, ...], tuple[LoopRecord, ...]]:
        carries = [carry for record in records for carry in record.carries]
        roots = [each for store in stores for each in (store.value, store.mask, store.offset)]
        roots += [each for carry in carries for each in (carry.initial, carry.update)]
        roots += [record.condition for record in records if record.condition is not None]
        nodes = [node for node in walk(*roots) if node.dtype in (d.u32, d.i32) and node.operation != "random_bits"]
        for node in nodes:
            self.forms.of(node)
        words = self._found(nodes)
        if not words:
            return tuple(stores), tuple(records)
        made = Rebuilding(self.arena, {}, words.get, self._chosen)
        return (
            tuple(_rebuilt_store(made, store) for store in stores),
            tuple(
                replace(
                    record,
                    carries=tuple(_rebuilt_carry(made, carry) for carry in record.carries),
                    condition=None if record.condition is None else made.expression(record.condition),
                )
                for record in records
            ),
        )

    def _found(self, nodes: Sequence[Expression]) -> dict[Expression, Expression]:
        texts: dict[Form, Expression] = {}
        for node in nodes:
            texts.setdefault(self.forms.of(node), node)
        for form, coordinate in self.forms.small.items():
            texts.setdefault(form, as_index(self.arena, coordinate))
        words: dict[Form, Expression] = {}
        for block in list(_blocks(self.forms)):
            for word, form in enumerate(block.words):
                made = self._drawn(block, word, texts) if form in texts else None
                if made is not None:
                    words[form] = made
        return {node: self._as(words[form], node) for node in nodes if (form := self.forms.of(node)) in words}

    def _as(self, word: Expression, node: Expression) -> Expression:
        return word if node.dtype == d.u32 else self.arena.make("bitcast", node.dtype, (word,))

    def _drawn(self, block: _Block, word: int, texts: dict[Form, Expression]) -> Expression | None:
        counter = self._joined(block.low, block.high, texts)
        seed = self._joined(*block.key, texts)
        if counter is None or seed is None:
            return None
        if block.low in self.forms.small:
            self.remarks.append(_SMALL)
        return self.arena.make("random_bits", d.u32, (seed, self._position(counter, word)))

    def _joined(self, low: Form, high: Form, texts: dict[Form, Expression]) -> Expression | None:
        """low + 2**32 * high as one number of 64 bits, or None where a half is nothing that the kernel computes."""
        arena, forms = self.arena, self.forms
        known = (forms.value(low), forms.value(high))
        if known[0] is not None and known[1] is not None:
            return arena.make("constant", d.u64, (), known[0] + known[1] * _BASE)
        halves = [
            texts.get(form) if value is None else arena.make("constant", d.u32, (), value)
            for form, value in zip((low, high), known, strict=True)
        ]
        lower, upper = halves
        if lower is None or upper is None:
            return None
        whole = self._whole(lower, upper)
        if whole is not None:
            return whole
        wide = [arena.make("cast", d.u64, (self._unsigned(each),)) for each in (lower, upper)]
        if known[1] == 0:
            return wide[0]
        base = arena.make("constant", d.u64, (), _BASE)
        above = arena.make("pointwise", d.u64, (wide[1], base), ("multiply", False, False))
        return arena.make("pointwise", d.u64, (above, wide[0]), ("add", False, False))

    def _unsigned(self, node: Expression) -> Expression:
        return node if node.dtype == d.u32 else self.arena.make("bitcast", d.u32, (node,))

    def _whole(self, lower: Expression, upper: Expression) -> Expression | None:
        """The number whose halves these are."""
        low, high = _inside(lower), _inside(upper)
        if low is not None and low.dtype == d.index and upper.operation == "constant" and upper.attribute == 0:
            self.remarks.append(_SMALL)
            return low
        if low is None or high is None:
            return None
        if low.dtype == high.dtype == d.index:
            return low if high.polynomial == floor_divide(low.polynomial, number(_BASE)) else None
        if low.dtype != d.u64 or high.operation != "pointwise" or high.attribute[0] != "shift_right":
            return None
        whole, places = high.arguments
        return low if whole is low and places.operation == "constant" and places.attribute == 32 else None

    def _position(self, block: Expression, word: int) -> Expression:
        """Of a word among all words, by the number of its block."""
        if block.dtype == d.index:
            return as_index(self.arena, block.polynomial * WORDS + number(word))
        operands = (block, self.arena.make("constant", d.u64, (), WORDS))
        first = self.arena.make("pointwise", d.u64, operands, ("multiply", False, False))
        own = self.arena.make("constant", d.u64, (), word)
        return self.arena.make("pointwise", d.u64, (first, own), ("add", False, False)) if word else first

    # ------------------------------------------------------------------------------------------------- chosen words
    def _chosen(self, node: Expression) -> Expression | None:
        """Words of a block that are chosen by where a number stands in its block are the word at that number."""
        if node.operation != "select" or node.dtype != d.u32:
            return None
        compared = [each.polynomial for test in _tests(node) for each in test.arguments if each.dtype == d.index]
        atoms = {atom for polynomial in compared for monomial, _ in polynomial.terms for atom in monomial}
        atom = atoms.pop() if len(atoms) == 1 else None
        if isinstance(atom, Remainder) and atom.denominator.constant in range(2, WORDS + 1):
            return self._at_coordinate(node, atom)
        data = atom if isinstance(atom, Expression) and atom.operation == "pointwise" else None
        return self._at_data(node, data) if data is not None and data.attribute[0] == "and" else None

    def _at_coordinate(self, node: Expression, atom: Remainder) -> Expression | None:
        """For each value of the remainder its word, in steps of one distance."""
        count = atom.denominator.constant or 0
        words = [_taken(node, atom, value) for value in range(count)]
        if any(word is None or word.operation != "random_bits" for word in words):
            return None
        seeds, places = zip(*(word.arguments for word in words if word is not None), strict=True)
        if len(set(seeds)) != 1 or any(place.dtype != d.index for place in places):
            return None
        first = places[0].polynomial
        step = (places[1].polynomial - first).constant
        if step is None or any(
            place.polynomial != first + value * step or atom in place.polynomial.atoms()
            for value, place in enumerate(places)
        ):
            return None
        whole = Quotient(atom.numerator, atom.denominator)
        if first.coefficient(whole) == number(step * count):
            position = first - step * count * atomic(whole) + step * atom.numerator
        else:
            position = first + step * atomic(atom)
        return self.arena.make("random_bits", d.u32, (seeds[0], as_index(self.arena, position)))

    def _at_data(self, node: Expression, low: Expression) -> Expression | None:
        """Word n & 3 of block n >> 2, for an unsigned n that is read from memory."""
        counter, mask = low.arguments
        if low.dtype != d.u64 or mask.operation != "constant" or mask.attribute != WORDS - 1:
            return None
        places = (counter, self.arena.make("constant", d.u64, (), 2))
        block = self.arena.make("pointwise", d.u64, places, ("shift_right", False, False))
        seed: Expression | None = None
        for value in range(WORDS):
            word = _taken(node, low, value)
            if word is None or word.operation != "random_bits" or word.arguments[1] is not self._position(block, value):
                return None
            if seed is not None and word.arguments[0] is not seed:
                return None
            seed = word.arguments[0]
        assert seed is not None
        return self.arena.make("random_bits", d.u32, (seed, counter))


def _tests(node: Expression) -> Iterator[Expression]:
    """The conditions of a selection of selections."""
    if node.operation == "select":
        yield node.arguments[0]
        for part in node.arguments[1:]:
            yield from _tests(part)


def _taken(node: Expression, atom: Atom, value: int) -> Expression | None:
    """What a selection takes where an atom of its conditions has this value."""
    while node.operation == "select":
        truth = _truth(node.arguments[0], atom, value)
        if truth is None:
            return None
        node = node.arguments[1 if truth else 2]
    return node


def _truth(test: Expression, atom: Atom, value: int) -> bool | None:
    if test.operation != "pointwise" or len(test.arguments) != 2 or test.arguments[0].dtype != d.index:
        return None
    left, right = (each.polynomial.substitute({atom: number(value)}).constant for each in test.arguments)
    if left is None or right is None:
        return None
    return {"less": left < right, "equal": left == right, "not_equal": left != right}.get(test.attribute[0])


def _inside(node: Expression) -> Expression | None:
    """What a half of a wide number was converted from."""
    while node.operation in ("cast", "bitcast") and node.dtype.is_integer and node.dtype.bits == 32:
        (node,) = node.arguments
    return node if node.dtype.is_integer and node.dtype.bits == 64 else None


def _rebuilt_store(made: Rebuilding, store: StoreEffect) -> StoreEffect:
    offset, value, mask = map(made.expression, (store.offset, store.value, store.mask))
    return replace(store, offset=offset, value=value, mask=mask)


def _rebuilt_carry(made: Rebuilding, carry: LoopCarry) -> LoopCarry:
    return replace(carry, initial=made.expression(carry.initial), update=made.expression(carry.update))


def with_generators(arena: Arena, effects: KernelEffects) -> KernelEffects:
    """The kernel with words of the generator where it computes them."""
    if not any(arena.has_constant(dtype, _MULTIPLIERS[0]) for dtype in (d.u32, d.i32, d.u64)):
        return effects
    generators = Generators(arena)
    stores, records = generators.replaced(effects.stores, effects.loops)
    remarks = tuple(dict.fromkeys((*effects.remarks, *generators.remarks)))
    return replace(effects, stores=stores, loops=records, remarks=remarks)
