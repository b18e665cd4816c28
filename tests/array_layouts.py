"""Ways in which an array can lie in memory: functions of shape and dtype."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping

import numpy as np

Array = np.ndarray
Shape = tuple[int, ...]

BACKWARDS = slice(None, None, -1)


def _mapped(shape: Shape, dtype: np.dtype) -> Array:
    if 0 in shape:
        return np.empty(shape, dtype)  # there are no empty maps
    with tempfile.NamedTemporaryFile() as file:
        return np.memmap(file, dtype, "w+", 3, (*shape, 1))[..., 0]


def _swapped(shape: Shape, dtype: np.dtype) -> Array:
    return np.empty(shape, dtype.newbyteorder() if dtype.isbuiltin == 1 else dtype)


LAYOUTS: Mapping[str, Callable[[Shape, np.dtype], Array]] = {
    "backwards": lambda shape, dtype: np.empty(shape, dtype)[(BACKWARDS,) * len(shape) + (...,)],
    "last axis backwards": lambda shape, dtype: np.empty(shape, dtype)[(..., *(BACKWARDS,) * min(1, len(shape)))],
    "transposed": lambda shape, dtype: np.empty(shape[::-1], dtype).T,
    "every other": lambda shape, dtype: np.empty([2 * size for size in shape], dtype)[
        (*(slice(0, 2 * size, 2) for size in shape), ...)
    ],
    "field of a record": lambda shape, dtype: np.empty(shape, [("tag", "u1"), ("value", dtype)])["value"],
    "misaligned": lambda shape, dtype: np.ndarray(shape, dtype, bytearray(int(np.prod(shape)) * dtype.itemsize + 1), 1),
    "mapped file": _mapped,
    "other byte order": _swapped,
}


def laid_out(layout: str, array: Array) -> Array:
    """The same elements."""
    view = LAYOUTS[layout](array.shape, array.dtype)
    view[...] = array
    return view
