"""Reductions and scans of Triton's interpreter with whole tiles: it combines one pair of numbers after the other.

Imported only within the process that runs a verification. Combining functions work on tiles as on numbers, so that a
reduction of n elements takes log2(n) steps; as on a device, it may associate in any way, but keeps the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Arrays = list[Any]


def install() -> None:
    """From now on; a version of Triton that has no such methods is left as it is."""
    for owner, name, method in (
        (interpreter.ReduceOps, "generic_reduce", _reduce),
        (interpreter.ScanOps, "generic_scan", _scan),
    ):
        if hasattr(owner, name):
            setattr(owner, name, method)


def _combined(operation: Any, tiles: Sequence[Any]) -> Callable[[Arrays, Arrays], Arrays]:  # noqa: ANN401
    dtypes = [tile.dtype for tile in tiles]

    def function(left: Arrays, right: Arrays) -> Arrays:
        pairs = [
            operation.to_tensor(each, dtype) for side in (left, right) for each, dtype in zip(side, dtypes, strict=True)
        ]
        made = operation.combine_fn.fn(*pairs)
        made = made if isinstance(made, tuple) else (made,)
        arrays = [each.handle.data if isinstance(each, tl.tensor) else np.asarray(each) for each in made]
        return [np.broadcast_to(each, old.shape).astype(old.dtype) for each, old in zip(arrays, left, strict=True)]

    return function


def _reduce(self: Any, tiles: Sequence[Any]) -> list[Any]:  # noqa: ANN401
    whole, rank = self.axis is None, len(tiles[0].handle.data.shape)
    arrays = [tile.handle.data.reshape(-1) if whole else tile.handle.data for tile in tiles]
    axis = 0 if whole else self.axis % rank
    combine = _combined(self, tiles)
    arrays = [np.moveaxis(each, axis, -1) for each in arrays]
    while arrays[0].shape[-1] > 1:
        arrays = combine([each[..., 0::2] for each in arrays], [each[..., 1::2] for each in arrays])
    kept = (1,) * rank if whole else tuple(np.insert(arrays[0].shape[:-1], axis, 1))
    made = [each.reshape(kept) if self.keep_dims else each[..., 0] for each in arrays]
    return [
        self.to_tensor(each if each.shape else each.item(), tile.dtype) for each, tile in zip(made, tiles, strict=True)
    ]


def _scan(self: Any, tiles: Sequence[Any]) -> list[Any]:  # noqa: ANN401
    combine = _combined(self, tiles)
    arrays = [np.moveaxis(tile.handle.data, self.axis, -1) for tile in tiles]
    places = np.arange(arrays[0].shape[-1])
    distance = 1
    while distance < len(places):
        before = [np.roll(each, distance, axis=-1) for each in arrays]
        made = combine(before, arrays)
        arrays = [np.where(places >= distance, new, old) for new, old in zip(made, arrays, strict=True)]
        distance *= 2
    return [
        self.to_tensor(np.moveaxis(each, -1, self.axis), tile.dtype) for each, tile in zip(arrays, tiles, strict=True)
    ]
