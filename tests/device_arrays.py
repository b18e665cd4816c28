"""NumPy arrays as tensors where kernels run: the arrays' own memory under the interpreter, a copy of it on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from torch_arrays import to_torch

from intent.host.interpreter import interpreted


@contextmanager
def on_device(arguments: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The arguments with tensors for arrays; what is written into those is in the arrays at the end.

    Tensors have their arrays' strides, and those of arrays in one allocation are in one allocation.
    """
    allocations: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
    yield {
        name: _tensor(value, allocations) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    for host, device in allocations.values():
        if host is not device:
            host.copy_(device)


def _tensor(array: np.ndarray, allocations: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]]) -> object:
    base = _base(array)
    if id(base) not in allocations:
        host = to_torch(base).untyped_storage()
        allocations[id(base)] = host, host if interpreted() else host.cuda()
    storage = allocations[id(base)][1]
    offset = (array.ctypes.data - base.ctypes.data) // array.itemsize
    steps = [step // array.itemsize for step in array.strides]
    empty = torch.empty(0, dtype=to_torch(array[..., :0] if array.ndim else array).dtype, device=storage.device)
    return empty.set_(storage, offset, array.shape, steps)


def _base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
