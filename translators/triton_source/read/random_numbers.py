"""Triton's random numbers: its Philox generator counts in blocks of four words, as the language's does.

tl.randint4x(seed, o)[w]              word w of block o, for an o of 32 bits that is taken as unsigned
tl.philox(seed, low, high, 0, 0)[w]   word w of block low + 2**32 * high
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from intent import dtypes as d
from translators.algebra.polynomial import Polynomial, Quotient, number, remainder
from translators.tile.expression import Expression
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.values import NotLifted, Shape, Tile, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]
ROUNDS: Final = 10
WORDS: Final = 4
SMALLEST: Final = 1.0e-7  # of a uniform number that a logarithm is taken of
SCALE: Final = 4.6566127342e-10  # an integer of 31 bits as a number below 1


def _words(count: int, made: Callable[[Execution, Tile], Value]) -> Handler:
    """The first `count` words of a block, each as `made` has it; one alone is no tuple."""

    def handler(execution: Execution, given: Arguments) -> Value:
        words = tuple(made(execution, word) for word in _block(execution, given, count))
        return words if count > 1 else words[0]

    return handler


def _normals(count: int) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        words = [_uniform(execution, word) for word in _block(execution, given, 2 * ((count + 1) // 2))]
        pairs = zip(words[::2], words[1::2], strict=True)
        normals = tuple(each for pair in pairs for each in _pair(execution, *pair))
        return normals if count > 1 else normals[0]

    return handler


def _block(execution: Execution, given: Arguments, count: int) -> list[Tile]:
    offset = execution.operations.tile(given["offset"])
    seed = _seed(execution, given, offset)
    return _drawn(execution, seed, offset.shape, [_counter(execution, offset, word) for word in range(count)])


def _seed(execution: Execution, given: Arguments, *counters: Tile) -> Expression:
    if given.get("n_rounds", ROUNDS) != ROUNDS:
        raise NotLifted("random numbers of another number of rounds")
    seed = execution.scalar(given["seed"])
    if not all(each.dtype.is_integer for each in (seed, *counters)):
        raise NotLifted("random numbers of a seed or offset that is no integer")
    return seed.value


def _drawn(execution: Execution, seed: Expression, shape: Shape, positions: Sequence[Expression]) -> list[Tile]:
    nodes = (execution.arena.make("random_bits", d.u32, (seed, position)) for position in positions)
    return [Tile(d.u32, shape, node) for node in nodes]


def _philox(execution: Execution, given: Arguments) -> Value:
    """All words of a block whose number is given in two words: of the four that Triton takes, the upper two are 0."""
    ops = execution.operations
    counters = [ops.tile(given[f"c{word}"]) for word in range(WORDS)]
    seed = _seed(execution, given, *counters)
    low, high, *zeros = counters
    if low.dtype.bits != 32 or any(_is_not_zero(each) for each in zeros):
        raise NotLifted("random numbers whose counter has more than two words of 32 bits")
    shape = ops.shape_of(*counters)
    low, high = ops.aligned(low, high)
    if all(each.value.dtype == d.index and ops.nonnegative(each.value.polynomial) for each in (low, high)):
        execution.remark("the lower word of a random counter is taken not to overflow")
        block = _joined(low.value.polynomial, high.value.polynomial)
        return tuple(_drawn(execution, seed, shape, [ops.index(block * WORDS + number(word)) for word in range(WORDS)]))
    below, above = (ops.converted(ops.converted(ops.data(each), d.u32), d.u64) for each in (low, high))
    upper = ops.pointwise("multiply", d.u64, above, ops.constant(d.u64, 1 << 32))
    number_of = ops.pointwise("add", d.u64, upper, below)
    return tuple(_drawn(execution, seed, shape, [_position(execution, number_of, word) for word in range(WORDS)]))


def _is_not_zero(tile: Tile) -> bool:
    node = tile.value
    return node.attribute not in (0, number(0)) if node.operation in ("constant", "index") else True


def _joined(low: Polynomial, high: Polynomial) -> Polynomial:
    """low + high * 2**32, where both may be the words of one number."""
    base = number(1 << 32)
    whole = high.atom.numerator if isinstance(high.atom, Quotient) and high.atom.denominator == base else None
    if whole is None:
        return low + high * base
    rest = remainder(whole, base)
    here = rest.atom is not None and low.coefficient(rest.atom) == number(1)
    return low - rest + whole if here else low + high * base


def _counter(execution: Execution, offset: Tile, word: int) -> Expression:
    """The position of a word among all words."""
    ops = execution.operations
    if offset.value.dtype == d.index:
        if not ops.nonnegative(offset.value.polynomial):
            raise NotLifted("random numbers of an offset that may be negative")
        return ops.index(offset.value.polynomial * WORDS + number(word))
    if offset.dtype.bits > 32:
        raise NotLifted("random numbers of offsets of 64 bits that are read from memory")
    return _position(execution, ops.converted(ops.converted(offset.value, d.u32), d.u64), word)


def _position(execution: Execution, block: Expression, word: int) -> Expression:
    """Of a word among all words, by the number of its block."""
    ops = execution.operations
    first = ops.pointwise("multiply", d.u64, block, ops.constant(d.u64, WORDS))
    return ops.pointwise("add", d.u64, first, ops.constant(d.u64, word)) if word else first


def _same(execution: Execution, word: Tile) -> Tile:
    return word


def _uniform(execution: Execution, word: Tile) -> Value:
    """In [0, 1): the bits as a signed number, a negative one as its complement, times a scale."""
    ops = execution.operations
    signed = Tile(d.i32, word.shape, execution.arena.make("bitcast", d.i32, (word.value,)))
    complement = Tile(d.i32, word.shape, ops.pointwise("invert", d.i32, signed.value))
    return ops.binary("*", ops.select(ops.compare("<", signed, 0), complement, signed), SCALE)


def _pair(execution: Execution, first: Value, second: Value) -> tuple[Value, Value]:
    """Two normal numbers of two uniform ones."""
    ops = execution.operations

    def called(function: str, value: Value) -> Tile:
        tile = ops.tile(value)
        return Tile(tile.dtype, tile.shape, ops.pointwise(function, tile.dtype, tile.value))

    radius = called("sqrt", ops.binary("*", called("log", ops.extremum("maximum", SMALLEST, first)), -2.0))
    angle = ops.binary("*", second, math.tau)
    return ops.binary("*", radius, called("cos", angle)), ops.binary("*", radius, called("sin", angle))


_PARAMETERS: Final = ("seed", "offset", "n_rounds")
RANDOM: Final[Mapping[str, tuple[tuple[str, ...], Handler]]] = {
    "tl.philox": (("seed", "c0", "c1", "c2", "c3", "n_rounds"), _philox),
    "tl.randint": (_PARAMETERS, _words(1, _same)),
    "tl.randint4x": (_PARAMETERS, _words(WORDS, _same)),
    "tl.rand": (_PARAMETERS, _words(1, _uniform)),
    "tl.rand4x": (_PARAMETERS, _words(WORDS, _uniform)),
    "tl.randn": (_PARAMETERS, _normals(1)),
    "tl.randn4x": (_PARAMETERS, _normals(WORDS)),
}
