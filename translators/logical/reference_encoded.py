"""The reference of operations on encoded operands: scaled and sparse contractions, quantized records.

Written from the formats themselves, not from the definitions that the planner lowers.
"""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np

from intent.dtypes import DType
from intent.records import dataclass
from translators.logical.reference_numerics import Array, IllegalInput, as_double, round_to
from translators.logical.reference_structured import Labels, contract

_E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])
_LARGEST_F32 = float(np.finfo(np.float32).max)


# ------------------------------------------------------------------------------------------------------------- scaled
def scaled_contract(formats: tuple[str, str], arrays: Sequence[Array], accumulator: DType) -> Array:
    """lhs [M, G, C], its scale [M, G], rhs [G, C, N], its scale [N, G]: exact products, rounded once."""
    lhs, rhs = _decoded(arrays[0], formats[0], 2), _decoded(arrays[2], formats[1], 1)
    lhs_scale, rhs_scale = _scale(arrays[1]), _scale(arrays[3])
    both = np.abs(lhs_scale[:, None, :] * rhs_scale[None, :, :])
    if np.any(both > _LARGEST_F32):
        raise IllegalInput("two scales multiply to more than the largest f32")
    left, right = lhs * lhs_scale[:, :, None], rhs * rhs_scale.T[:, None, :]
    return round_to(np.tensordot(left, right, ((1, 2), (0, 1))), accumulator)


def _decoded(carriers: Array, format: str, axis: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The elements as f64; those of a byte follow each other along `axis`."""
    if format == "e4m3":
        return as_double(np.ascontiguousarray(carriers).view(ml_dtypes.float8_e4m3fn))
    code = carriers.astype(np.int64)
    both = np.stack((_E2M1[np.bitwise_and(code, 15)], _E2M1[np.right_shift(code, 4)]), axis + 1)
    shape = list(carriers.shape)
    shape[axis] *= 2
    return both.reshape(shape)


def _scale(codes: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    if codes.dtype != np.uint8:
        return as_double(codes)
    exponent = codes.astype(np.int64) - 127
    return np.where(exponent == 128, np.nan, np.ldexp(1.0, exponent))


# ------------------------------------------------------------------------------------------------------------- sparse
@dataclass(frozen=True, slots=True)
class Compressed:
    """Groups of `group` positions along `axis`, which has `extent` of them."""

    group: int
    axis: int
    extent: int


def sparse_contract(form: Compressed, arrays: Sequence[Array], labels: Labels, accumulator: DType) -> Array:
    """Kept elements, one or two arrays of their positions in each group, and the dense right side."""
    kept, *metadata, dense = arrays
    if form.extent % form.group:
        raise IllegalInput(f"the logical extent {form.extent} is no multiple of {form.group}")
    count, groups = len(metadata), form.extent // form.group
    places = [np.moveaxis(array, form.axis, 0) for array in metadata]
    elements = np.moveaxis(kept, form.axis, 0)
    if elements.shape[0] != groups * count or any(place.shape[0] != groups for place in places):
        raise IllegalInput(f"{form.extent} positions do not compress to {elements.shape[0]}")
    _check_places(form, places)
    whole = np.zeros((form.extent, *elements.shape[1:]), kept.dtype)
    start = np.arange(groups).reshape(-1, *(1,) * (elements.ndim - 1)) * form.group
    for ordinal, place in enumerate(places):
        np.put_along_axis(whole, start + place.astype(np.int64), elements[ordinal::count], 0)
    return contract(labels, np.moveaxis(whole, 0, form.axis), dense, accumulator)


def _check_places(form: Compressed, places: Sequence[Array]) -> None:
    if any(np.any(np.less(place, 0) | np.greater_equal(place, form.group)) for place in places):
        raise IllegalInput(f"sparse metadata lie outside [0, {form.group})")
    if len(places) == 2 and np.any(np.greater_equal(places[0], places[1])):
        raise IllegalInput("the second of two kept positions does not follow the first")


# ---------------------------------------------------------------------------------------------------------- quantized
def quantize(values: Array) -> Array:
    """[..., 256] f32 as Q8_K records of 292 bytes."""
    rows = np.ascontiguousarray(values).reshape(-1, 256).astype(np.float32)
    if not np.all(np.isfinite(rows)):
        raise IllegalInput("only finite numbers can be quantized")
    high, low = rows.max(axis=1, initial=-np.inf), rows.min(axis=1, initial=np.inf)
    extreme = np.where(high > -low, high, low)[:, None]
    empty = extreme == 0
    inverse = np.where(empty, np.float32(0), np.float32(-127) / np.where(empty, np.float32(1), extreme))
    scale = np.where(empty, np.float32(0), np.float32(1) / np.where(empty, np.float32(1), inverse))
    if not (np.all(np.isfinite(inverse)) and np.all(np.isfinite(scale)) and np.array_equal(scale == 0, empty)):
        raise IllegalInput("the scale of a quantized record leaves the range of f32")
    elements = np.clip(np.rint(rows * inverse), -128, 127).astype(np.int8)
    sums = elements.reshape(-1, 16, 16).sum(axis=2, dtype=np.int16)
    parts = [np.ascontiguousarray(part).view(np.uint8) for part in (scale, elements, sums)]
    return np.concatenate(parts, axis=1).reshape(*values.shape[:-1], 292)


def quantized_dot(lhs: Array, rhs: Array) -> Array:
    """Q4_K records [G, 144] and Q8_K records [G, 292], or one of each; G records are added in order."""
    left = np.ascontiguousarray(lhs).reshape(-1, 144)
    right = np.ascontiguousarray(rhs).reshape(-1, 292)
    total = np.float32(0)
    for first, second in zip(left, right, strict=True):
        total = total + _record_product(first, second)
    return np.asarray(total, np.float32)


def _record_product(first: Array, second: Array) -> np.float32:
    scale, minimum = first[0:4].view(np.float16).astype(np.float32)
    scales, minima = _six_bits(first[4:16].astype(np.int64))
    packed = first[16:144].reshape(4, 32).astype(np.int64)
    weights = np.stack((packed & 15, packed >> 4), axis=1).reshape(8, 32)
    elements, sums = second[4:260].view(np.int8).astype(np.int64), second[260:292].view(np.int16).astype(np.int64)
    if not np.array_equal(elements.reshape(16, 16).sum(axis=1), sums):
        raise IllegalInput("the sums of a quantized record are not those of its elements")
    total = np.float32(np.sum(scales * np.sum(weights * elements.reshape(8, 32), axis=1)))
    offset = np.float32(np.sum(minima * sums.reshape(8, 2).sum(axis=1)))
    difference = np.float32(np.float32(scale * total) - np.float32(minimum * offset))
    result: np.float32 = second[0:4].view(np.float32)[0] * difference
    return result


def _six_bits(stored: Array) -> tuple[Array, Array]:
    """The eight scales and the eight minima in 12 bytes."""
    shared = stored[8:12]
    pairs = ((stored[0:4], np.bitwise_and(shared, 15)), (stored[4:8], np.right_shift(shared, 4)))
    low, high = (
        np.concatenate((np.bitwise_and(own, 63), np.bitwise_or(rest, np.left_shift(np.right_shift(own, 6), 4))))
        for own, rest in pairs
    )
    return low, high
