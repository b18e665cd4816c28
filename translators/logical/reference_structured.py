"""The reference of built-in reductions, scans, contractions, histograms and random bits on whole arrays.

Float sums and products accumulate in a wider type and round once, so that the result is the oracle for every order in
which a program may add. Integers accumulate modulo 2^width.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters

import numpy as np

from intent.dtypes import DType
from intent.records import dataclass
from translators.logical.reference_numerics import (
    Array,
    IllegalInput,
    as_double,
    carrier,
    filled,
    lowest,
    round_to,
    widened,
)

_einsum: Callable[..., Array] = np.einsum  # the stubs want one statically known element type
LARGEST_EXTENDED_CONTRACTION = 2**24  # multiply-adds beyond which f64 contractions stay in f64


def accumulating(array: Array, dtype: DType) -> Array:
    """The operand of a sum in its accumulation type: f64 for narrower floats, extended precision for f64."""
    if not dtype.is_float:
        return array
    return array.astype(np.longdouble) if dtype.bits == 64 else as_double(array)


def _rounded(array: Array, dtype: DType) -> Array:
    return round_to(array, dtype) if dtype.is_float else array.astype(carrier(dtype), copy=False)


# ----------------------------------------------------------------------------------------------------------- reductions
def reduce_builtin(kind: str, array: Array, axes: tuple[int, ...], dtype: DType) -> Array:
    match kind:
        case "sum":
            wide = accumulating(array, dtype)
            return _rounded(np.asarray(np.sum(wide, axis=axes, dtype=wide.dtype)), dtype)
        case "max":
            return np.asarray(np.max(widened(array, dtype), axis=axes, initial=lowest(dtype))).astype(carrier(dtype))
        case "any":
            return np.asarray(np.any(array, axis=axes))
        case "all":
            return np.asarray(np.all(array, axis=axes))
        case _:
            raise AssertionError(f"no built-in reduction {kind}")


def arg_max(array: Array, axis: int, dtype: DType) -> tuple[Array, Array]:
    """(largest, its position): the first NaN if there is one, else the lowest of the equals. Empty: identity, 0."""
    kept = array.shape[:axis] + array.shape[axis + 1 :]
    if array.shape[axis] == 0:
        return filled(kept, lowest(dtype), dtype), np.zeros(kept, np.int64)
    position = np.asarray(np.argmax(widened(array, dtype), axis=axis))  # NumPy's own rule is the same
    value = np.take_along_axis(array, np.expand_dims(position, axis), axis).reshape(kept)
    return value, position.astype(np.int64)


# ---------------------------------------------------------------------------------------------------------------- scans
def scan_builtin(kind: str, array: Array, axis: int, inclusive: bool, reverse: bool, dtype: DType) -> Array:
    ordered = np.flip(array, axis) if reverse else array
    identity = 0 if kind == "sum" else lowest(dtype)
    result = _prefixes(kind, ordered, axis, dtype)
    if not inclusive:
        result = shifted(result, axis, filled((), identity, dtype))
    return np.ascontiguousarray(np.flip(result, axis)).reshape(array.shape) if reverse else result


def _prefixes(kind: str, array: Array, axis: int, dtype: DType) -> Array:
    if kind == "sum":
        wide = accumulating(array, dtype)
        return _rounded(np.cumsum(wide, axis=axis, dtype=wide.dtype), dtype)
    return np.maximum.accumulate(widened(array, dtype), axis=axis).astype(carrier(dtype))


def shifted(array: Array, axis: int, first: Array) -> Array:
    """Inclusive prefixes as exclusive ones: each takes its predecessor's value, and the first takes `first`."""
    result = np.empty_like(array)
    moved, source = np.moveaxis(result, axis, 0), np.moveaxis(array, axis, 0)
    moved[1:] = source[:-1]
    moved[:1] = first
    return result


# --------------------------------------------------------------------------------------------------------- contractions
@dataclass(frozen=True, slots=True)
class Labels:
    """The axes of both operands and of the result of a contraction, by integer labels."""

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    result: tuple[int, ...]


def contract(labels: Labels, lhs: Array, rhs: Array, accumulator: DType) -> Array:
    """Einsum with integer labels; a size-one axis whose label is larger elsewhere is read at 0."""
    extents: dict[int, int] = {}
    for own, array in ((labels.lhs, lhs), (labels.rhs, rhs)):
        for label, extent in zip(own, array.shape, strict=True):
            extents[label] = extent if extents.get(label, 1) == 1 else extents[label]
    left, left_labels = _without_broadcast(lhs, labels.lhs, extents)
    right, right_labels = _without_broadcast(rhs, labels.rhs, extents)
    work = int(np.prod([float(extent) for extent in extents.values()]))
    wide_left, wide_right = (_widen_factor(array, accumulator, work) for array in (left, right))
    present = [label for label in labels.result if label in left_labels or label in right_labels]
    formula = _formula(left_labels, right_labels, present)
    total = np.asarray(_einsum(formula, wide_left, wide_right, optimize=True))
    shape = tuple(extents[label] for label in labels.result)
    kept = tuple(extent if label in present else 1 for extent, label in zip(shape, labels.result, strict=True))
    return _rounded(np.broadcast_to(total.reshape(kept), shape), accumulator)


def _formula(*labels: list[int]) -> str:
    """The subscripts of einsum: one letter a label, `ab,bc->ac`."""
    numbers = sorted({label for each in labels for label in each})
    letter = {label: ascii_letters[position] for position, label in enumerate(numbers)}
    lhs, rhs, result = ("".join(letter[label] for label in each) for each in labels)
    return f"{lhs},{rhs}->{result}"


def _without_broadcast(array: Array, labels: tuple[int, ...], extents: dict[int, int]) -> tuple[Array, list[int]]:
    """The array without the axes that are read at 0 against a larger extent, and the labels that stay."""
    repeated = tuple(axis for axis, label in enumerate(labels) if array.shape[axis] == 1 and extents[label] != 1)
    return np.squeeze(array, repeated), [label for axis, label in enumerate(labels) if axis not in repeated]


def _widen_factor(array: Array, accumulator: DType, work: int) -> Array:
    if not accumulator.is_float:
        return array.astype(carrier(accumulator))
    extended = accumulator.bits == 64 and work <= LARGEST_EXTENDED_CONTRACTION
    return array.astype(np.longdouble) if extended else as_double(array)


# ------------------------------------------------------------------------------------------------ histogram, randomness
def histogram(values: Array, valid: Array, bins: int, dtype: DType) -> Array:
    chosen = values[np.broadcast_to(valid, values.shape)].astype(np.int64)
    if np.any((chosen < 0) | (chosen >= bins)):
        raise IllegalInput(f"a histogram value lies outside its {bins} bins")
    return np.bincount(chosen, minlength=bins).astype(carrier(dtype))


_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def random_bits(seed: Array, counter: Array) -> Array:
    """Philox4x32-10: word counter % 4 of block counter // 4, as u32. In u64, so that products are exact."""
    seed, counter = (np.asarray(array).astype(np.uint64) for array in np.broadcast_arrays(seed, counter))
    block = counter >> np.uint64(2)
    words = [block & _WORD, block >> _HALF, np.zeros_like(block), np.zeros_like(block)]
    low_key, high_key = seed & _WORD, seed >> _HALF
    for _ in range(10):
        words = _philox_round(words, low_key, high_key)
        low_key = (low_key + np.uint64(0x9E3779B9)) & _WORD
        high_key = (high_key + np.uint64(0xBB67AE85)) & _WORD
    return np.asarray(np.choose((counter & np.uint64(3)).astype(np.intp), words)).astype(np.uint32)


def _philox_round(words: list[Array], low_key: Array, high_key: Array) -> list[Array]:
    first = np.multiply(np.uint64(0xD2511F53), words[0])
    third = np.multiply(np.uint64(0xCD9E8D57), words[2])
    return [
        np.bitwise_xor(np.bitwise_xor(np.right_shift(third, _HALF), words[1]), low_key),
        np.bitwise_and(third, _WORD),
        np.bitwise_xor(np.bitwise_xor(np.right_shift(first, _HALF), words[3]), high_key),
        np.bitwise_and(first, _WORD),
    ]
