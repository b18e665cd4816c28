"""Triton module for deriche.py, written by intentc; change the Intent source, not this file.

Deriche's recursive smoothing of an image: along both axes the sum of a forward and a backward filter.

deriche(alpha, image) -> out
    launches along_rows, along_columns; what they hand on stays on the device

along_rows(x[W, H] f64, a1 f64, a2 f64, a3 f64, a4 f64, b1 f64, b2 f64) -> out[W, H] f64
    out[i, j] = y1
    out[i, j] += y1
    Plan    one program per 256 i
    Traffic reads x, out; writes out

along_columns(x[W, H] f64, a1 f64, a2 f64, a3 f64, a4 f64, b1 f64, b2 f64) -> out[W, H] f64
    out[i, j] = y1
    out[i, j] += y1
    Plan    one program per 256 j
    Traffic reads x, out; writes out

Targets cuda:90 cuda:80 hip:gfx942
"""

import collections
import contextlib
import functools
import itertools
import math
import numbers
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

__all__ = [
    "deriche",
    "deriche_out",
    "deriche_device",
    "deriche_device_out",
    "along_rows",
    "along_rows_out",
    "along_rows_device",
    "along_rows_device_out",
    "along_columns",
    "along_columns_out",
    "along_columns_device",
    "along_columns_device_out",
]


@triton.jit(do_not_specialize=["W", "a1", "a2", "a3", "a4", "b1", "b2"])
def along_rows_kernel(
    x_ptr, out_ptr,
    W, H,
    stride_x_w, stride_x_h, stride_out_w, stride_out_h,
    a1: tl.float64, a2: tl.float64, a3: tl.float64, a4: tl.float64, b1: tl.float64, b2: tl.float64,
    BLOCK_I: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    a1 = tl.full((), a1, tl.float64)
    a2 = tl.full((), a2, tl.float64)
    a3 = tl.full((), a3, tl.float64)
    a4 = tl.full((), a4, tl.float64)
    b1 = tl.full((), b1, tl.float64)
    b2 = tl.full((), b2, tl.float64)
    i = tl.program_id(0).to(INDEX) * BLOCK_I + tl.arange(0, BLOCK_I)
    i_mask = i < W
    x_at_i = x_ptr + i * stride_x_w
    out_at_i = out_ptr + i * stride_out_w

    x1 = tl.zeros((BLOCK_I,), tl.float64)
    y1 = tl.zeros((BLOCK_I,), tl.float64)
    y2 = tl.zeros((BLOCK_I,), tl.float64)
    for j in range(tl.cast(H, INDEX)):
        new_x1 = tl.load(x_at_i + j * stride_x_h, mask=i_mask)
        new_y1 = a1 * new_x1 + a2 * x1 + b1 * y1 + b2 * y2
        tl.store(out_at_i + j * stride_out_h, new_y1, mask=i_mask)  # deriche.py:31
        tl.debug_barrier()
        x1 = new_x1
        y2 = y1
        y1 = new_y1

    x1_2 = tl.zeros((BLOCK_I,), tl.float64)
    y1_2 = tl.zeros((BLOCK_I,), tl.float64)
    y2_2 = tl.zeros((BLOCK_I,), tl.float64)
    x2 = tl.zeros((BLOCK_I,), tl.float64)
    for back in range(tl.cast(H, INDEX)):
        j_2 = H - back - 1
        out_ptrs = out_at_i + j_2 * stride_out_h
        out = tl.load(out_ptrs, mask=i_mask)
        tl.debug_barrier()
        new_y1 = a3 * x1_2 + a4 * x2 + b1 * y1_2 + b2 * y2_2
        tl.store(out_ptrs, out + new_y1, mask=i_mask)  # deriche.py:40
        new_x1 = tl.load(x_at_i + j_2 * stride_x_h, mask=i_mask)
        tl.debug_barrier()
        y2_2 = y1_2
        x2 = x1_2
        x1_2 = new_x1
        y1_2 = new_y1


@triton.jit(do_not_specialize=["W", "a1", "a2", "a3", "a4", "b1", "b2"])
def along_columns_kernel(
    x_ptr, out_ptr,
    W, H,
    stride_x_w, stride_x_h, stride_out_w, stride_out_h,
    a1: tl.float64, a2: tl.float64, a3: tl.float64, a4: tl.float64, b1: tl.float64, b2: tl.float64,
    BLOCK_J: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    a1 = tl.full((), a1, tl.float64)
    a2 = tl.full((), a2, tl.float64)
    a3 = tl.full((), a3, tl.float64)
    a4 = tl.full((), a4, tl.float64)
    b1 = tl.full((), b1, tl.float64)
    b2 = tl.full((), b2, tl.float64)
    j = tl.program_id(0).to(INDEX) * BLOCK_J + tl.arange(0, BLOCK_J)
    j_mask = j < H

    x1 = tl.zeros((BLOCK_J,), tl.float64)
    y1 = tl.zeros((BLOCK_J,), tl.float64)
    y2 = tl.zeros((BLOCK_J,), tl.float64)
    for i in range(tl.cast(W, INDEX)):
        new_x1 = tl.load(x_ptr + i * stride_x_w + j * stride_x_h, mask=j_mask)
        new_y1 = a1 * new_x1 + a2 * x1 + b1 * y1 + b2 * y2
        tl.store(out_ptr + i * stride_out_w + j * stride_out_h, new_y1, mask=j_mask)  # deriche.py:63
        tl.debug_barrier()
        x1 = new_x1
        y2 = y1
        y1 = new_y1

    x1_2 = tl.zeros((BLOCK_J,), tl.float64)
    y1_2 = tl.zeros((BLOCK_J,), tl.float64)
    y2_2 = tl.zeros((BLOCK_J,), tl.float64)
    x2 = tl.zeros((BLOCK_J,), tl.float64)
    for back in range(tl.cast(W, INDEX)):
        i_2 = W - back - 1
        out_ptrs = out_ptr + i_2 * stride_out_w + j * stride_out_h
        out = tl.load(out_ptrs, mask=j_mask)
        tl.debug_barrier()
        new_y1 = a3 * x1_2 + a4 * x2 + b1 * y1_2 + b2 * y2_2
        tl.store(out_ptrs, out + new_y1, mask=j_mask)  # deriche.py:72
        new_x1 = tl.load(x_ptr + i_2 * stride_x_w + j * stride_x_h, mask=j_mask)
        tl.debug_barrier()
        y2_2 = y1_2
        x2 = x1_2
        x1_2 = new_x1
        y1_2 = new_y1


class _View(NamedTuple):
    """An array parameter: name, dtype, extents (numbers or names of sizes), direction."""

    name: str
    dtype: str
    shape: tuple
    direction: str


class _Kernel(NamedTuple):
    """What the wrappers know of a kernel."""

    name: str
    views: tuple
    launch: Callable
    scalars: tuple = ()  # (name, dtype)
    covered: tuple = ()  # outputs that are written in full


class _Plan(NamedTuple):
    """A device function, its number of programs and block sizes, and (warps, stages) by vendor."""

    kernel: Callable
    programs: int
    blocks: dict
    cuda: tuple
    hip: tuple


class _Repeat(NamedTuple):
    """How to process arrays of the form that an earlier call had."""

    launch: Callable  # takes tensors, their addresses and scalars
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do
    outputs: list  # to be allocated: position, shape, dtype, device
    kinds: list  # of scalars that need no look: float, None for those that do
    apart: list  # addresses that were compared last


_REPEATS = {}  # by form
_PLAIN = {torch.Tensor, torch.nn.Parameter}
_PACKED = {}  # by form: how to process small arrays like those of an earlier call, unless two of certain pairs overlap
_PACKED_BYTES = 1 << 18


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_POISON = os.getenv("INTENTC_POISON") == "1"  # calls find out what they leave unwritten


def _launch_along_rows(x, out, a1, a2, a3, a4, b1, b2, W, H):
    index = _index_type(x, out)
    plan = _Plan(along_rows_kernel, triton.cdiv(W, 256), {"BLOCK_I": 256, "INDEX": index}, cuda=(4, 3), hip=(2, 2))
    integers = (W, H, *x.stride(), *out.stride())
    return _launch(
        plan,
        (x, out),
        integers,
        scalars=(a1, a2, a3, a4, b1, b2),
        sizes=(H,),
        unit_strides=("stride_x_h", "stride_out_h"),
    )


_ALONG_ROWS = _Kernel(
    "along_rows",
    views=(_View("x", "float64", ("W", "H"), "In"), _View("out", "float64", ("W", "H"), "Out")),
    launch=_launch_along_rows,
    scalars=(
        ("a1", "float64"),
        ("a2", "float64"),
        ("a3", "float64"),
        ("a4", "float64"),
        ("b1", "float64"),
        ("b2", "float64"),
    ),
    covered=("out",),
)


def along_rows(x, a1, a2, a3, a4, b1, b2):
    """NumPy arrays; returns out[W, H] f64."""
    return _host_call(_ALONG_ROWS, (x, None), (a1, a2, a3, a4, b1, b2))


def along_rows_out(x, a1, a2, a3, a4, b1, b2, out):
    """NumPy arrays; writes out."""
    _host_call(_ALONG_ROWS, (x, out), (a1, a2, a3, a4, b1, b2))


def along_rows_device(x, a1, a2, a3, a4, b1, b2):
    """Device arrays (torch, CuPy); returns out[W, H] f64."""
    return _device_call(_ALONG_ROWS, (x, None), (a1, a2, a3, a4, b1, b2))


def along_rows_device_out(x, a1, a2, a3, a4, b1, b2, out):
    """Device arrays (torch, CuPy); writes out."""
    _device_call(_ALONG_ROWS, (x, out), (a1, a2, a3, a4, b1, b2))


def _launch_along_columns(x, out, a1, a2, a3, a4, b1, b2, W, H):
    index = _index_type(x, out)
    plan = _Plan(along_columns_kernel, triton.cdiv(H, 256), {"BLOCK_J": 256, "INDEX": index}, cuda=(4, 3), hip=(2, 2))
    integers = (W, H, *x.stride(), *out.stride())
    return _launch(
        plan,
        (x, out),
        integers,
        scalars=(a1, a2, a3, a4, b1, b2),
        sizes=(H,),
        unit_strides=("stride_x_h", "stride_out_h"),
    )


_ALONG_COLUMNS = _Kernel(
    "along_columns",
    views=(_View("x", "float64", ("W", "H"), "In"), _View("out", "float64", ("W", "H"), "Out")),
    launch=_launch_along_columns,
    scalars=(
        ("a1", "float64"),
        ("a2", "float64"),
        ("a3", "float64"),
        ("a4", "float64"),
        ("b1", "float64"),
        ("b2", "float64"),
    ),
    covered=("out",),
)


def along_columns(x, a1, a2, a3, a4, b1, b2):
    """NumPy arrays; returns out[W, H] f64."""
    return _host_call(_ALONG_COLUMNS, (x, None), (a1, a2, a3, a4, b1, b2))


def along_columns_out(x, a1, a2, a3, a4, b1, b2, out):
    """NumPy arrays; writes out."""
    _host_call(_ALONG_COLUMNS, (x, out), (a1, a2, a3, a4, b1, b2))


def along_columns_device(x, a1, a2, a3, a4, b1, b2):
    """Device arrays (torch, CuPy); returns out[W, H] f64."""
    return _device_call(_ALONG_COLUMNS, (x, None), (a1, a2, a3, a4, b1, b2))


def along_columns_device_out(x, a1, a2, a3, a4, b1, b2, out):
    """Device arrays (torch, CuPy); writes out."""
    _device_call(_ALONG_COLUMNS, (x, out), (a1, a2, a3, a4, b1, b2))


def _coefficients(alpha):
    import math

    decay = math.exp(-alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + alpha * decay - math.exp(2.0 * alpha))
    return k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * decay * decay, 2.0**-alpha, -decay * decay


def _deriche(alpha, image):
    a1, a2, a3, a4, b1, b2 = _coefficients(alpha)
    return along_columns_device(along_rows_device(image, a1, a2, a3, a4, b1, b2), a1, a2, a3, a4, b1, b2)


def deriche(alpha, image):
    """NumPy arrays; returns out."""
    return _host_composition(_deriche, (alpha, image))


def deriche_out(alpha, image, out):
    """NumPy arrays; writes out."""
    _host_composition(_deriche, (alpha, image), (out,))


def deriche_device(alpha, image):
    """Device arrays (torch, CuPy); returns out."""
    return _device_composition(_deriche, (alpha, image))


def deriche_device_out(alpha, image, out):
    """Device arrays (torch, CuPy); writes out."""
    _device_composition(_deriche, (alpha, image), (out,))


def _host_composition(function, arguments, results=(), /, **keywords):
    """Call a function of device tensors with NumPy arrays; copy back what it returns, and the arrays it changed."""
    if any(map(_folded, results)) or any(np.shares_memory(*pair) for pair in itertools.combinations(results, 2)):
        raise ValueError("the arrays for the results overlap in memory")
    moved = {}
    with torch.inference_mode(False):
        arguments, keywords = _each((arguments, keywords), _is_numpy, lambda array: _moved(array, moved))
    returned = function(*arguments, **keywords)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    _update(moved)
    originals = {id(tensor): array for array, tensor, _ in moved.values()}
    returned = _each(returned, torch.is_tensor, lambda tensor: originals.get(id(tensor), tensor))

    def in_memory(tensor):
        return _to_numpy(tensor.detach())

    returned = _each(returned, torch.is_tensor, in_memory)
    for array, result in _paired(results, returned):
        array[...] = result
    return None if results else returned


def _is_numpy(value):
    return isinstance(value, np.ndarray)


def _moved(array, moved):
    """The tensor that has an array's elements on the device; the same elements move once."""
    key = _elements(array)
    if key not in moved:
        tensor = _to_device(array, array.dtype.name, _device())
        moved[key] = array, tensor, tensor._version
    return moved[key][1]


def _update(moved):
    """Copy back the arrays whose tensors have changed since they were moved."""
    for array, tensor, version in moved.values():
        if tensor._version == version:
            continue
        if any(other is not array and np.shares_memory(array, other) for other, _, _ in moved.values()):
            raise ValueError("an array that the function changes overlaps another argument in memory")
        if not array.flags.writeable or _folded(array):
            raise ValueError("an array that the function changes is read-only, or its elements overlap")
        _to_numpy(tensor.detach(), array)


def _mark_changed(kernel, tensors):
    """Tell PyTorch what a kernel has written, as it notes itself for operations of its own."""
    written = [tensor for view, tensor in zip(kernel.views, tensors, strict=True) if view.direction != "In"]
    torch.autograd.graph.increment_version([tensor for tensor in written if not tensor.is_inference()])


def _device_composition(function, arguments, results=(), /, **keywords):
    """Call a function of tensors with device arrays, in place, or copies of read-only ones, on the current stream."""
    if any(map(_is_read_only, results)):
        raise ValueError("an array for the results is read-only")
    arrays = []
    _each((arguments, keywords, results), _is_array, arrays.append)
    with _stream(arrays):
        tensors = {id(array): _as_tensor(array) for array in arrays}
        copies = [tensors[id(array)] for array in arrays if _is_read_only(array)]
        versions = [tensor._version for tensor in copies]
        arguments, keywords = _each((arguments, keywords), _is_array, lambda array: tensors[id(array)])
        with torch.cuda.device(next((tensor.get_device() for tensor in tensors.values()), -1)):
            returned = function(*arguments, **keywords)
            if [tensor._version for tensor in copies] != versions:
                raise ValueError("an array that the function changes is read-only")
            for array, result in _paired(results, returned):
                tensors[id(array)].copy_(result)
        originals = {id(tensors[id(array)]): array for array in arrays}

        def original(tensor):
            return originals[id(tensor)] if id(tensor) in originals else tensor

        return None if results else _each(returned, torch.is_tensor, original)


def _is_array(value):
    return hasattr(value, "__dlpack__")


def _as_tensor(array):
    """A torch tensor over the memory of a device array."""
    if isinstance(array, torch.Tensor):
        return array
    if type(array).__module__ == "numpy":
        raise TypeError("a device array is expected, not a NumPy array")
    if _is_read_only(array):
        with torch.inference_mode(False):
            return torch.from_dlpack(array).clone()
    return torch.as_tensor(array) if hasattr(array, "__cuda_array_interface__") else torch.from_dlpack(array)


def _is_read_only(array):
    """Such an array refuses to give its memory without a version, which could not say so."""
    if isinstance(array, torch.Tensor) or hasattr(array, "__cuda_array_interface__"):
        return False
    try:
        array.__dlpack__()
    except BufferError:
        return True
    return False


def _each(value, wanted, change):
    """A value with every wanted part of it changed, also within tuples, lists and dictionaries."""
    if wanted(value):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(_each(item, wanted, change) for item in value)
    if type(value) is dict:
        return {key: _each(item, wanted, change) for key, item in value.items()}
    return value


def _paired(results, returned):
    """The arrays that results are to be written to, each with its result."""
    if not results:
        return ()
    returned = returned if isinstance(returned, (tuple, list)) else (returned,)
    if len(returned) != len(results):
        raise ValueError(f"there are {len(returned)} results, and {len(results)} arrays for them")
    for position, (array, result) in enumerate(zip(results, returned, strict=True)):
        wanted, given = (tuple(result.shape), _dtype_name(result)), (tuple(array.shape), _dtype_name(array))
        if wanted != given:
            raise ValueError(f"result {position} has shape and dtype {wanted}, but the array for it {given}")
    return zip(results, returned, strict=True)


def _host_call(kernel, arrays, scalars=(), **sizes):
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form, _ = _form(kernel, arrays, sizes)
    run, pairs = _PACKED.get(form, (None, ()))
    if run and not any(np.may_share_memory(arrays[one], arrays[other]) for one, other in pairs):
        return run(arrays, scalars)
    plain = all(array is None or type(array) is np.ndarray for array in arrays)
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    scalars = _scalars(kernel, scalars)
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, scalars, sizes)
    results = _hand_back(kernel, arrays, tensors, _to_numpy)
    if torch.cuda.is_available():
        torch.cuda.synchronize()  # the only one of the call
    few = plain and sum(tensor.nbytes for tensor in tensors) <= _PACKED_BYTES
    if form is not None and launch is not None and few:
        if len(_PACKED) >= 64:  # sizes may change without end
            _PACKED.clear()
        _PACKED[form] = _packed(kernel, arrays, tensors, launch)
    return results


def _packed(kernel, arrays, tensors, launch):
    """How to process small arrays like these: as parts of one memory, which moves in one copy each way."""
    sizes = [-(-tensor.nbytes // 256) * 256 for tensor in tensors]
    pinned = torch.empty(sum(sizes), dtype=torch.uint8, pin_memory=tensors[0].is_cuda)
    memory, lock = torch.empty(sum(sizes), dtype=torch.uint8, device=tensors[0].device), threading.Lock()
    staged = [_part(*pair).numpy() for pair in zip(pinned.split(sizes), tensors, strict=True)]
    tensors = [_part(*pair) for pair in zip(memory.split(sizes), tensors, strict=True)]
    addresses = [tensor.data_ptr() for tensor in tensors]

    def copied(place, array):
        return place.copy() if array is None else np.copyto(array, place)

    def run(arrays, scalars):
        scalars = _scalars(kernel, scalars)
        with lock:
            for view, array, place in zip(kernel.views, arrays, staged, strict=True):
                if view.direction != "Out":
                    place[...] = array
            memory.copy_(pinned, non_blocking=True)
            launch(tensors, addresses, scalars)
            pinned.copy_(memory)  # waits for the device
            return _hand_back(kernel, arrays, staged, copied)

    given = [(place, view) for place, view in enumerate(kernel.views) if arrays[place] is not None]
    pairs = itertools.combinations(given, 2)
    pairs = [(one, other) for (one, a), (other, b) in pairs if {a.direction, b.direction} != {"In"}]
    return run, pairs


def _device_call(kernel, arrays, scalars=(), **sizes):
    """Run on device arrays, in place and on the current stream; as an earlier call did, if they have the same form."""
    form, addresses = _form(kernel, arrays, sizes)
    try:
        repeat = _REPEATS[form]
    except KeyError:
        repeat = None
    if repeat is None or ([addresses] != repeat.apart and _overlap(repeat, addresses)):
        return _first_call(kernel, arrays, scalars, sizes, form)
    if [*map(type, scalars)] != repeat.kinds:
        scalars = _scalars(kernel, scalars)
    if repeat.outputs:
        arrays, addresses, results = _with_outputs(repeat, arrays, addresses)
    repeat.launch(arrays, addresses, scalars)
    _mark_changed(kernel, arrays)
    return _unwrap(results) if repeat.outputs else None


def _first_call(kernel, arrays, scalars, sizes, form):
    """Check, choose, compile and launch, and keep what was launched for later calls."""
    with _stream(arrays):
        tensors = [_tensor(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
        sizes = _check(kernel, tensors, sizes)
        scalars = _scalars(kernel, scalars)
        device = _common_device(kernel, tensors)
        _check_overlap(kernel, [_Addresses.of(tensor) for tensor in tensors])
        results = []
        for position, (view, array) in enumerate(zip(kernel.views, arrays, strict=True)):
            if array is None:
                tensors[position] = _empty(view, sizes, device)
                results.append(tensors[position])
        launch = _run(kernel, tensors, scalars, sizes)
        _mark_changed(kernel, tensors)
        if form is not None and launch is not None:
            _remember(form, kernel, arrays, tensors, launch)
        return _unwrap(results)


def _form(kernel, arrays, sizes):
    """What checks and plans depend on apart from overlaps, None where they are made in every call; and addresses."""
    form, addresses = [kernel.name], []
    for array in arrays:
        if type(array) in _PLAIN:
            address = array.data_ptr()
            addresses.append(address)
            form += array.dtype, array.shape, array.stride(), array.device, address % 16
        elif type(array) is np.ndarray:
            form += array.dtype, array.shape, array.strides, array.flags.writeable
        else:  # none, or one that is looked at anew in every call
            addresses.append(None)
            form.append(type(array))
    return (None if _POISON else tuple(form)), addresses


def _overlap(repeat, addresses):
    """Whether arrays overlap otherwise than those of the earlier call."""
    for one, other, low, high in repeat.pairs:
        if low < addresses[other] - addresses[one] < high:
            return True
    repeat.apart[:] = (addresses,)
    return False


def _with_outputs(repeat, arrays, addresses):
    """New arrays in the places of outputs, with their addresses; and what is returned of them."""
    tensors, addresses, results = list(arrays), list(addresses), []
    for position, shape, dtype, device in repeat.outputs:
        tensor = tensors[position] = torch.empty(shape, dtype=dtype, device=device)
        addresses[position] = tensor.data_ptr()
        results.append(tensor)
    return tensors, addresses, results


def _remember(form, kernel, arrays, tensors, launch):
    """Keep a launch for later calls, unless an array of this one is of another kind, or was copied."""
    global _REPEATS
    places = [place for place, array in enumerate(arrays) if array is not None]
    plain = all(type(arrays[place]) in _PLAIN and tensors[place] is arrays[place] for place in places)
    if not places or not plain:
        return
    pairs = []
    for one, other in itertools.combinations(places, 2):
        first, second = kernel.views[one], kernel.views[other]
        if first.direction != "In" or second.direction != "In":
            a, b = tensors[one], tensors[other]
            pairs.append((one, other, -_span(b), _span(a)))
    outputs = [(place, t.shape, t.dtype, t.device) for place, t in enumerate(tensors) if arrays[place] is None]
    if len(_REPEATS) >= 1024:  # sizes may change without end
        _REPEATS = {}  # and other threads may be reading
    kinds = [float if "float" in dtype else None for _, dtype in kernel.scalars]
    _REPEATS[form] = _Repeat(launch, pairs, outputs, kinds, apart=[])


def _span(tensor):
    """Bytes from the first element to the end of the last."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size() if tensor.numel() else 0


def _tensor(kernel, view, array):
    """A torch tensor over the memory of a device array; None stands for an output that is still to be allocated."""
    if array is None or isinstance(array, torch.Tensor):
        tensor = array
    elif hasattr(array, "__cuda_array_interface__"):
        tensor = torch.as_tensor(array)
    elif hasattr(array, "__dlpack__"):
        if view.direction != "In":
            _check_writable(kernel, view, array)
        tensor = torch.from_dlpack(array)
    else:
        raise TypeError(f"{kernel.name}: {view.name} must be a device array, not {type(array).__name__}")
    return tensor


def _check_writable(kernel, view, array):
    """An array that is read-only refuses to give its memory without a version, which could not say so."""
    try:
        array.__dlpack__()
    except BufferError as error:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only") from error


def _dtype_name(array):
    return str(array.dtype).removeprefix("torch.") if isinstance(array, torch.Tensor) else array.dtype.name


def _common_device(kernel, tensors):
    """The device that all arguments are on: a GPU, or the CPU under the interpreter."""
    pairs = zip(kernel.views, tensors, strict=True)
    devices = {tensor.device: view.name for view, tensor in pairs if tensor is not None}
    if len(devices) > 1:
        places = ", ".join(f"{name} on {device}" for device, name in devices.items())
        raise ValueError(f"{kernel.name}: the arguments are on different devices: {places}")
    expected = _device()
    device = next(iter(devices), torch.device(expected))
    if device.type != expected:
        raise ValueError(f"{kernel.name}: {devices[device]} is on {device}, expected an array on {expected}")
    return device


def _stream(arrays):
    """CuPy's current stream if CuPy arrays are among the arguments, else torch's current stream."""
    if not any(type(array).__module__.partition(".")[0] == "cupy" for array in arrays):
        return contextlib.nullcontext()
    pointer = sys.modules["cupy"].cuda.get_current_stream().ptr
    return torch.cuda.stream(torch.cuda.ExternalStream(pointer) if pointer else torch.cuda.default_stream())


def _check_numpy(kernel, view, array):
    """An output that is still to be allocated is None."""
    if array is None:
        return None
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{kernel.name}: {view.name} must be a NumPy array, not {type(array).__name__}")
    if view.direction != "In" and not array.flags.writeable:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only")
    return np.asarray(array)


def _check(kernel, arrays, sizes):
    """Hold every array against its declaration; the result maps each size name to its value."""
    for view, array in zip(kernel.views, arrays, strict=True):
        if array is not None:
            _check_array(kernel, view, array, sizes)
    return sizes


def _check_array(kernel, view, array, sizes):
    dtype, shape = _dtype_name(array), tuple(array.shape)
    if dtype != view.dtype:
        raise TypeError(f"{kernel.name}: {view.name} must have dtype {view.dtype}, not {dtype}")
    if len(shape) != len(view.shape):
        declared = str(view.shape).replace("'", "")
        raise ValueError(f"{kernel.name}: {view.name} must have shape {declared}, not {shape}")
    for axis, (extent, size) in enumerate(zip(view.shape, shape, strict=True)):
        expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
        if size != expected:
            known = expected if extent == expected else f"{extent} = {expected}"
            raise ValueError(f"{kernel.name}: axis {axis} of {view.name} must be {known}, not {size} (shape {shape})")


def _scalars(kernel, values):
    return [
        value if type(value) is float and "float" in dtype else _scalar(kernel, name, dtype, value)
        for (name, dtype), value in zip(kernel.scalars, values, strict=True)
    ]


def _scalar(kernel, name, dtype, value):
    """A Python number that the dtype can hold."""
    value = value.item() if isinstance(value, np.generic) else value
    kind = bool if dtype == "bool" else numbers.Integral if "int" in dtype else numbers.Real
    if not isinstance(value, kind) or (isinstance(value, bool) and dtype != "bool"):
        raise TypeError(f"{kernel.name}: {name} must be a number of dtype {dtype}, not {value!r}")
    if kind is numbers.Real:
        try:
            return float(value)
        except OverflowError:
            raise ValueError(f"{kernel.name}: {name} must fit {dtype}, but is beyond every float") from None
    if dtype == "bool":
        return int(value)  # the interpreter takes no Python bool
    if not torch.iinfo(getattr(torch, dtype)).min <= value <= torch.iinfo(getattr(torch, dtype)).max:
        raise ValueError(f"{kernel.name}: {name} must fit {dtype}, but is {value}")
    return int(value)


def _check_overlap(kernel, arrays):
    """Refuse a written array that shares memory with another argument in an unsupported way."""
    given = [(view, array) for view, array in zip(kernel.views, arrays, strict=True) if array is not None]
    for view, array in given:
        if view.direction != "In" and _folded(array):
            raise ValueError(f"{kernel.name}: {view.name} is written, but its elements overlap in memory")
    for (first, a), (second, b) in itertools.combinations(given, 2):
        written = [view.name for view in (first, second) if view.direction != "In"]
        if not written or not np.shares_memory(a, b):
            continue
        raise ValueError(f"{kernel.name}: {first.name} and {second.name} overlap in memory, which it does not support")


def _folded(array):
    """Whether elements of an array may overlap: an axis steps over less memory than the axes of smaller steps take."""
    taken = array.itemsize
    for step, size in sorted(zip(map(abs, array.strides), array.shape, strict=True)) if array.size else ():
        if size > 1 and step < taken:
            return True
        taken += step * (size - 1)
    return False


def _elements(array):
    """Equal for arrays of the same elements in the same order."""
    return array.__array_interface__["data"][0], array.strides, array.shape, array.dtype


class _Addresses:
    """A device tensor's addresses as a NumPy array that is never read, for NumPy's test of shared memory."""

    def __init__(self, tensor):
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), False),
            "typestr": f"|V{size}",
            "shape": tuple(tensor.shape),
            "strides": tuple(size * stride for stride in tensor.stride()),
        }

    @classmethod
    def of(cls, tensor):
        return None if tensor is None or not tensor.numel() else np.array(cls(tensor), copy=False)


def _empty(view, sizes, device):
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in view.shape]
    return torch.empty(shape, dtype=getattr(torch, view.dtype), device=device)


def _unwrap(results):
    """One result stands for itself, several are a tuple, none is None."""
    return tuple(results) if len(results) > 1 else results[0] if results else None


def _device():
    if os.getenv("TRITON_INTERPRET") == "1":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    raise RuntimeError("no GPU found: use a machine with one, or set TRITON_INTERPRET=1 before Python starts")


def _run(kernel, tensors, scalars, sizes):
    with torch.cuda.device_of(tensors[0]):
        if _POISON:
            return _run_poisoned(kernel, tensors, scalars, sizes)
        return kernel.launch(*tensors, *scalars, **sizes)


def _run_poisoned(kernel, tensors, scalars, sizes):
    """Launch over two bit patterns: an output element that still holds the pattern both times was not written."""
    before = [tensor.clone() for tensor in tensors]
    addresses = [tensor.data_ptr() for tensor in tensors]
    alone = [addresses.count(address) == 1 for address in addresses]
    poisoned = [view.direction == "Out" and own for view, own in zip(kernel.views, alone, strict=True)]
    kept = [torch.ones(tensor.shape, dtype=torch.bool, device=tensor.device) for tensor in tensors]
    for byte in (0x5A, 0x25):
        for view, tensor, old, poison in zip(kernel.views, tensors, before, poisoned, strict=True):
            if view.direction != "In":
                _bits(tensor).fill_(_pattern(tensor, byte)) if poison else tensor.copy_(old)
        kernel.launch(*tensors, *scalars, **sizes)
        for tensor, mask in zip(tensors, kept, strict=True):
            mask &= _bits(tensor) == _pattern(tensor, byte)
    for view, poison, mask in zip(kernel.views, poisoned, kept, strict=True):
        if poison and mask.any():
            message = f"{kernel.name}: {int(mask.sum())} of {mask.numel()} elements of {view.name} were not written"
            if view.name in kernel.covered:
                raise RuntimeError(message)
            print(message, file=sys.stderr)


def _bits(tensor):
    """The elements as integers of their width."""
    return tensor.view(_INTEGERS[tensor.element_size()])


def _pattern(tensor, byte):
    return int.from_bytes(bytes([byte] * tensor.element_size()), "little")


def _launch(plan, views, integers, scalars=(), *, sizes, unit_strides):
    """Launch on the current stream, compiled for aligned arrays (innermost strides 1, else multiples of 16) or any.

    The result does the same with other views, their addresses and scalars that are alike; None if nothing is to do.
    """
    if plan.programs < 1:
        return None
    kernel = plan.kernel
    alignments = [number for view in views for number in (view.data_ptr(), *view.stride()[:-1])]
    if any(view.stride(-1) != 1 for view in views if view.dim()):
        kernel = _specialised(kernel, ())
    elif any(number % 16 for number in (*alignments, *sizes)):
        kernel = _specialised(kernel, unit_strides)
    warps, stages = plan.hip if torch.version.hip else plan.cuda
    options = {**plan.blocks, "num_warps": warps, "num_stages": stages}
    start = _start(kernel, plan.programs, views, (*integers, *scalars), options)
    return lambda views, places, scalars: start(views, places, (*integers, *scalars))


def _start(kernel, programs, views, others, options):
    """Compile before the launch, so that a failure to compile leaves the caller's arrays alone.

    The result launches the compiled function with other views, or their addresses, and other arguments behind them.
    """
    arguments = (*views, *others)
    start = _interpreted(kernel[(programs,)], options)
    if hasattr(kernel, "warmup"):  # interpreters before Triton 3.6 have nothing to compile
        compiled = kernel.warmup(*arguments, grid=(programs,), **options)
        if isinstance(compiled, triton.compiler.CompiledKernel):
            constants = [options[name] for name in kernel.arg_names[len(arguments) :]]
            start = _compiled(compiled[(programs, 1, 1)], constants)
    start(views, [view.data_ptr() for view in views], others)
    return start


def _interpreted(run, options):
    return lambda views, _, others: run(*views, *others, **options)


def _compiled(run, constants):
    """Launch what was compiled for the current device: there and on the current stream, with addresses."""
    driver = triton.runtime.driver.active
    current_device, current_stream = driver.get_current_device, driver.get_current_stream
    device = current_device()

    def start(_, addresses, others):
        if current_device() == device:
            run(*addresses, *others, *constants, stream=current_stream(device))
        else:
            with torch.cuda.device(device):
                run(*addresses, *others, *constants, stream=current_stream(device))

    return start


@functools.cache
def _specialised(kernel, unit_strides):
    """The kernel for strides, sizes and addresses of any alignment; only the named strides are known to be 1."""
    constants = [name for name, kind in kernel.fn.__annotations__.items() if kind is tl.constexpr]
    known = {*constants, *unit_strides}
    return triton.jit(kernel.fn, do_not_specialize=[name for name in kernel.arg_names if name not in known])


def _index_type(*views):
    """The integer that holds every offset: 64-bit well before 2**31, as the last tile may reach past the end."""
    axes = (zip(view.shape, view.stride(), strict=True) for view in views)
    spans = (sum((size - 1) * abs(stride) for size, stride in pairs) for pairs in axes)
    return tl.int64 if max(spans) >= 2**30 else tl.int32


def _upload(kernel, arrays, sizes):
    """Device tensors for all arguments: only what the kernel reads is copied, and the same elements only once."""
    device, tensors = _device(), {}
    for view, array in zip(kernel.views, arrays, strict=True):
        key = _elements(array) if view.direction == "In" else view.name
        if key not in tensors:
            read = view.direction != "Out"
            tensors[key] = _to_device(array, view.dtype, device) if read else _empty(view, sizes, device)
        tensors[view.name] = tensors[key]
    return [tensors[view.name] for view in kernel.views]


def _hand_back(kernel, arrays, sources, copy):
    """Copy what was written into the caller's arrays, or into new ones, which are returned."""
    triples = zip(kernel.views, arrays, sources, strict=True)
    written = [(array, copy(source, array)) for view, array, source in triples if view.direction != "In"]
    return _unwrap([result for array, result in written if array is None])


def _to_device(array, dtype, device):
    """A tensor with an array's elements, for what comes later on the current stream."""
    tensor = torch.empty(array.shape, dtype=getattr(torch, dtype), device=device)
    _move(array, tensor, up=True)
    return tensor


def _to_numpy(tensor, array=None):
    """A tensor's elements, in a given array or in a new one."""
    array = _new_array(tensor) if array is None else array
    _move(array, tensor, up=False)
    return array


_KEPT = collections.defaultdict(list)  # by bytes, memory of results that are gone: its pages are cleared already
_KEPT_BYTES = 1 << 30  # in all; _KEPT.clear() gives them back


def _new_array(tensor):
    """Large ones in memory that was used before, if there is any: to clear new pages takes as long as to copy."""
    size, dtype = tensor.nbytes, _dtype_name(tensor)
    if not 1 << 22 <= size <= _KEPT_BYTES:
        return np.empty(tensor.shape, dtype)
    try:
        memory = _KEPT[size].pop()
    except IndexError:
        memory = np.empty(size, np.uint8)
    array = torch.from_numpy(memory).numpy()
    weakref.finalize(array.base, _keep, memory)  # the tensor lives as long as any array over it
    return array.view(dtype).reshape(tensor.shape)


def _keep(memory):
    if memory.nbytes + sum(size * len(each) for size, each in list(_KEPT.items())) > _KEPT_BYTES:
        _KEPT.clear()
    _KEPT[memory.nbytes].append(memory)


_SLOT_BYTES = 1 << 25  # large parts keep PyTorch's threads busy
_SLOTS = 2  # one on the bus, one with the threads
_MOVES = threading.BoundedSemaphore(2)  # at a time: more would pin more memory without being faster
_DIRECT_BYTES = 1 << 18  # up to so many, a slot takes longer than it saves


def _move(array, tensor, up):
    """Copy up to a tensor or down: while one part is on the bus, threads copy another to its slot or from it."""
    forwards = all(step >= 0 and step % array.itemsize == 0 for step in array.strides)
    if not (forwards and array.flags.aligned and array.dtype.isnative):  # PyTorch has no such tensors
        plain = array.astype(array.dtype.newbyteorder("="), order="C")
        _move(plain, tensor, up)
        if not up:
            array[...] = plain
        return
    bits = {**array.__array_interface__, "data": (array.ctypes.data, False), "typestr": f"<i{array.itemsize}"}
    memory = torch.from_numpy(np.asarray(types.SimpleNamespace(__array_interface__=bits, array=array)))
    tensor, begun = tensor.view(memory.dtype), collections.deque()
    if tensor.nbytes <= _DIRECT_BYTES:
        tensor.copy_(memory) if up else memory.copy_(tensor)
        return
    taken = _SLOTS * _SLOT_BYTES if tensor.nbytes > _SLOT_BYTES else tensor.nbytes

    def finish():
        part, slot, arrive = begun.popleft()
        arrive()
        if not up:
            part.copy_(slot)

    with _MOVES:
        slots = torch.empty(taken, dtype=torch.uint8, pin_memory=tensor.is_cuda).split(_SLOT_BYTES)
        for turn, (part, piece) in enumerate(_parts(memory, tensor)):
            if turn >= _SLOTS:
                finish()
            slot = _part(slots[turn % _SLOTS], piece)
            source, target = (slot.copy_(part), piece) if up else (piece, slot)
            target.copy_(source, non_blocking=True)
            begun.append((part, slot, _fence(tensor)))
        while begun and not up:  # PyTorch looks after slots that are on their way up
            finish()


def _parts(array, tensor):
    """Both cut alike along their outermost axes into parts that fit a slot."""
    if tensor.nbytes <= _SLOT_BYTES:
        return [(array, tensor)]
    axis = next(axis for axis, size in enumerate(tensor.shape) if size > 1)
    rows = max(1, tensor.shape[axis] * _SLOT_BYTES // tensor.nbytes)
    pairs = zip(array.split(rows, axis), tensor.split(rows, axis), strict=True)
    return [part for pair in pairs for part in _parts(*pair)]


def _fence(tensor):
    """What waits for all that has been begun on the tensor's device."""
    return torch.cuda.current_stream(tensor.device).record_event().synchronize if tensor.is_cuda else lambda: None


def _part(memory, tensor):
    """As many bytes of memory as a tensor has, in its form."""
    return memory[: tensor.nbytes].view(tensor.dtype).view(tensor.shape)


_CASES = (
    (_ALONG_ROWS, {"W": 5, "H": 37}),
    (_ALONG_ROWS, {"W": 1, "H": 1}),
    (_ALONG_ROWS, {"W": 16, "H": 64}),
    (_ALONG_COLUMNS, {"W": 5, "H": 37}),
    (_ALONG_COLUMNS, {"W": 1, "H": 1}),
    (_ALONG_COLUMNS, {"W": 16, "H": 64}),
)


def _self_check():
    """Small random inputs, poisoned outputs, every case twice; the number of cases that went wrong."""
    global _POISON
    _POISON = True
    generator, failures = np.random.default_rng(0), 0
    for kernel, sizes in _CASES:
        tensors = [_random(view, kernel, sizes, generator) for view in kernel.views]
        scalars = [0.75 if "float" in dtype else dtype == "bool" or 1 for _, dtype in kernel.scalars]
        terms = max(tensor.numel() for tensor in tensors)
        first = _written(kernel, tensors, scalars, sizes)
        second = _written(kernel, tensors, scalars, sizes)
        wrong = [name for name in first if not _agree(first[name], second[name], terms)]
        failures += bool(wrong)
        print(kernel.name, sizes, f"differs in {', '.join(wrong)}" if wrong else "ok")
    return failures


def _random(view, kernel, sizes, generator):
    """Integers are small enough to be an index of any axis."""
    extents = [sizes[extent] if isinstance(extent, str) else extent for view in kernel.views for extent in view.shape]
    shape = [sizes[extent] if isinstance(extent, str) else extent for extent in view.shape]
    if "float" in view.dtype:
        values = generator.standard_normal(shape)
    else:
        values = generator.integers(0, 2 if view.dtype == "bool" else max(1, min(extents, default=1)), shape)
    return torch.as_tensor(values).to(_device(), getattr(torch, view.dtype))


def _written(kernel, tensors, scalars, sizes):
    """Run on copies; the views that the kernel writes, by name."""
    copies = [tensor.clone() for tensor in tensors]
    _run(kernel, copies, scalars, sizes)
    return {view.name: copy for view, copy in zip(kernel.views, copies, strict=True) if view.direction != "In"}


def _agree(one, other, terms):
    """Integers are equal; floats differ by no more than another order of summation explains."""
    if not one.dtype.is_floating_point:
        return torch.equal(one.to(torch.int64), other.to(torch.int64))
    a, b = one.double(), other.double()
    finite = torch.isfinite(a) & torch.isfinite(b)
    same = torch.equal(a[~finite].nan_to_num(nan=1.5), b[~finite].nan_to_num(nan=1.5))
    band = 16 * torch.finfo(one.dtype).eps * terms**0.5 * b[finite].norm()
    return same and bool((a[finite] - b[finite]).norm() <= band)


if __name__ == "__main__":
    sys.exit(_self_check())
