"""NumPy arrays as torch tensors and back, with the dtypes of `ml_dtypes` that torch does not take over by itself."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import torch

_CARRIED = {
    np.dtype(ml_dtypes.bfloat16): (np.int16, torch.bfloat16),
    np.dtype(ml_dtypes.float8_e4m3fn): (np.uint8, torch.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2): (np.uint8, torch.float8_e5m2),
}
_BACK = {dtype: (carrier, numpy) for numpy, (carrier, dtype) in _CARRIED.items()}
_TORCH_CARRIERS = {np.int16: torch.int16, np.uint8: torch.uint8}


def to_torch(array: np.ndarray) -> torch.Tensor:
    """A tensor of the array's values and strides; shares its memory."""
    if array.dtype in _CARRIED:
        carrier, dtype = _CARRIED[array.dtype]
        return torch.from_numpy(array.view(carrier)).view(dtype)
    return torch.from_numpy(array)


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's values on the host."""
    tensor = tensor.detach().cpu()
    if tensor.dtype in _BACK:
        carrier, dtype = _BACK[tensor.dtype]
        return np.asarray(tensor.contiguous().view(_TORCH_CARRIERS[carrier]).numpy().view(dtype))
    return np.asarray(tensor.numpy())
