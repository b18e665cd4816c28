"""Triton module for int4_gemm.py, written by intentc; change the Intent source, not this file.

Product with four-bit weights, two in a byte, the low half first; a scale and a zero point per column and group.

The weights are decoded on the way to the product; x and the result are f16.

int4_gemm(x[M, G, 32] f16, packed[N, G, 16] u8, scale[N, G] f16, zero[N, G] u8) -> out[M, N] f16
    out[m, n] = I.cast(total, I.f16)
    Plan    one program per 16 m x 32 n; streamed: 256 k
    Plan    one program per 64 m x 64 n; streamed: 128 k
    Plan    one program per 128 m x 128 n; streamed: 64 k
    Traffic reads x, packed, zero, scale; writes out

Targets cuda:90 cuda:80 hip:gfx942
"""

import collections
import contextlib
import functools
import itertools
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

__all__ = ["int4_gemm", "int4_gemm_out", "int4_gemm_device", "int4_gemm_device_out"]


@triton.jit
def _each_repeated(x, axis: tl.constexpr, times: tl.constexpr):
    # Neighbouring lanes along an axis that want one element: it is read once.
    if len(x.shape) == 1:
        result = tl.reshape(tl.broadcast_to(x[:, None], (x.shape[0], times)), (x.shape[0] * times,))
    elif axis == 0:
        wide = tl.broadcast_to(x[:, None, :], (x.shape[0], times, x.shape[1]))
        result = tl.reshape(wide, (x.shape[0] * times, x.shape[1]))
    else:
        wide = tl.broadcast_to(x[:, :, None], (x.shape[0], x.shape[1], times))
        result = tl.reshape(wide, (x.shape[0], x.shape[1] * times))
    return result


@triton.jit(do_not_specialize=["M"])
def int4_gemm_kernel(
    x_ptr, packed_ptr, scale_ptr, zero_ptr, out_ptr,
    M, G, N,
    stride_x_m, stride_x_g, stride_x_2, stride_packed_n, stride_packed_g, stride_packed_2, stride_scale_n,
    stride_scale_g, stride_zero_n, stride_zero_g, stride_out_m, stride_out_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(INDEX)
    n_tiles = tl.cdiv(N, BLOCK_N)
    # 8 rows of tiles at a time: programs that run together share columns in the L2 cache.
    group_start = pid // (n_tiles * 8) * 8
    within_group = pid % (n_tiles * 8)
    group_rows = tl.minimum(8, tl.cdiv(M, BLOCK_M) - group_start)
    m = (group_start + within_group % group_rows) * BLOCK_M + tl.arange(0, BLOCK_M)
    m_mask = m < M
    n = within_group // group_rows * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = n < N
    end = tl.cast(G, INDEX) * 32
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start_k in range(0, end, BLOCK_K):
        k = start_k + tl.arange(0, BLOCK_K).to(INDEX)
        k_mask = k < end
        x_ptrs = x_ptr + m[:, None] * stride_x_m + k[None, :] // 32 * stride_x_g + k[None, :] % 32 * stride_x_2
        k_by_2 = start_k // 2 + tl.arange(0, BLOCK_K // 2).to(INDEX)
        packed_ptrs = (
            packed_ptr
            + n[:, None] * stride_packed_n
            + (k_by_2 // 16)[None, :] * stride_packed_g
            + k_by_2[None, :] % 16 * stride_packed_2
        )
        byte = tl.load(packed_ptrs, mask=n_mask[:, None] & (k_by_2 < tl.cast(G, INDEX) * 16)[None, :], other=0)
        groups = start_k // 32 + tl.arange(0, BLOCK_K // 32).to(INDEX)
        mask = n_mask[:, None] & (groups < G)[None, :]
        zero_ptrs = zero_ptr + n[:, None] * stride_zero_n + groups[None, :] * stride_zero_g
        zero = tl.load(zero_ptrs, mask=mask, other=0).to(tl.float16)
        scale_ptrs = scale_ptr + n[:, None] * stride_scale_n + groups[None, :] * stride_scale_g
        scale = tl.load(scale_ptrs, mask=mask, other=0.0)
        x = tl.load(x_ptrs, mask=m_mask[:, None] & k_mask[None, :], other=0.0)
        quantum = tl.where(k[None, :] % 2 == 0, _each_repeated(byte & 15, 1, 2), _each_repeated(byte >> 4, 1, 2))
        centred = quantum.to(tl.float16) - _each_repeated(zero, 1, 32)
        weight = centred * _each_repeated(scale, 1, 32)
        total = tl.dot(x, tl.trans(weight), total)
    out_mask = m_mask[:, None] & n_mask[None, :]
    tl.store(out_ptr + m[:, None] * stride_out_m + n[None, :] * stride_out_n, total.to(tl.float16), mask=out_mask)


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
    covered: tuple = ()  # outputs that are written in full
    overlap: str = "refuse"  # or same, snapshot: of a written array with another


class _Plan(NamedTuple):
    """A device function, its number of programs and block sizes, and (warps, stages) by vendor."""

    kernel: Callable
    programs: int
    blocks: dict
    cuda: tuple
    hip: tuple


class _Repeat(NamedTuple):
    """How to process arrays of the form that an earlier call had."""

    launch: Callable  # takes tensors and their addresses
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do
    outputs: list  # to be allocated: position, shape, dtype, device
    apart: list  # addresses that were compared last


_REPEATS = {}  # by form
_PLAIN = {torch.Tensor, torch.nn.Parameter}
_PACKED = {}  # by form: how to process small arrays like those of an earlier call, unless two of certain pairs overlap
_PACKED_BYTES = 1 << 18


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_POISON = os.getenv("INTENTC_POISON") == "1"  # calls find out what they leave unwritten


def _launch_int4_gemm(x, packed, scale, zero, out, M, G, N):
    index = _index_type(x, packed, scale, zero, out)
    if M <= 16:
        plan = _Plan(
            int4_gemm_kernel,
            triton.cdiv(M, 16) * triton.cdiv(N, 32),
            {"BLOCK_M": 16, "BLOCK_N": 32, "BLOCK_K": 256, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    elif M <= 64:
        plan = _Plan(
            int4_gemm_kernel,
            triton.cdiv(M, 64) * triton.cdiv(N, 64),
            {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 128, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    else:
        plan = _Plan(
            int4_gemm_kernel,
            triton.cdiv(M, 128) * triton.cdiv(N, 128),
            {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "INDEX": index},
            cuda=(8, 3),
            hip=(4, 2),
        )
    integers = (M, G, N, *x.stride(), *packed.stride(), *scale.stride(), *zero.stride(), *out.stride())
    return _launch(
        plan,
        (x, packed, scale, zero, out),
        integers,
        sizes=(G, N),
        unit_strides=("stride_x_2", "stride_packed_2", "stride_scale_g", "stride_zero_g", "stride_out_n"),
    )


_INT4_GEMM = _Kernel(
    "int4_gemm",
    views=(
        _View("x", "float16", ("M", "G", 32), "In"),
        _View("packed", "uint8", ("N", "G", 16), "In"),
        _View("scale", "float16", ("N", "G"), "In"),
        _View("zero", "uint8", ("N", "G"), "In"),
        _View("out", "float16", ("M", "N"), "Out"),
    ),
    launch=_launch_int4_gemm,
    covered=("out",),
    overlap="snapshot",
)


def int4_gemm(x, packed, scale, zero):
    """NumPy arrays; returns out[M, N] f16."""
    return _host_call(_INT4_GEMM, (x, packed, scale, zero, None))


def int4_gemm_out(x, packed, scale, zero, out):
    """NumPy arrays; writes out."""
    _host_call(_INT4_GEMM, (x, packed, scale, zero, out))


def int4_gemm_device(x, packed, scale, zero):
    """Device arrays (torch, CuPy); returns out[M, N] f16."""
    return _device_call(_INT4_GEMM, (x, packed, scale, zero, None))


def int4_gemm_device_out(x, packed, scale, zero, out):
    """Device arrays (torch, CuPy); writes out."""
    _device_call(_INT4_GEMM, (x, packed, scale, zero, out))


def _host_call(kernel, arrays, **sizes):
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form, _ = _form(kernel, arrays, sizes)
    run, pairs = _PACKED.get(form, (None, ()))
    if run and not any(np.may_share_memory(arrays[one], arrays[other]) for one, other in pairs):
        return run(arrays)
    plain = all(array is None or type(array) is np.ndarray for array in arrays)
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, sizes)
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

    def run(arrays):
        with lock:
            for view, array, place in zip(kernel.views, arrays, staged, strict=True):
                if view.direction != "Out":
                    place[...] = array
            memory.copy_(pinned, non_blocking=True)
            launch(tensors, addresses)
            pinned.copy_(memory)  # waits for the device
            return _hand_back(kernel, arrays, staged, copied)

    given = [(place, view) for place, view in enumerate(kernel.views) if arrays[place] is not None]
    pairs = itertools.combinations(given, 2)
    pairs = [(one, other) for (one, a), (other, b) in pairs if {a.direction, b.direction} != {"In"}]
    return run, pairs


def _device_call(kernel, arrays, **sizes):
    """Run on device arrays, in place and on the current stream; as an earlier call did, if they have the same form."""
    form, addresses = _form(kernel, arrays, sizes)
    try:
        repeat = _REPEATS[form]
    except KeyError:
        repeat = None
    if repeat is None or ([addresses] != repeat.apart and _overlap(repeat, addresses)):
        return _first_call(kernel, arrays, sizes, form)
    if repeat.outputs:
        arrays, addresses, results = _with_outputs(repeat, arrays, addresses)
    repeat.launch(arrays, addresses)
    return _unwrap(results) if repeat.outputs else None


def _first_call(kernel, arrays, sizes, form):
    """Check, choose, compile and launch, and keep what was launched for later calls."""
    with _stream(arrays):
        tensors = [_tensor(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
        sizes = _check(kernel, tensors, sizes)
        device = _common_device(kernel, tensors)
        copies = _check_overlap(kernel, [_Addresses.of(tensor) for tensor in tensors])
        pairs = zip(kernel.views, tensors, strict=True)
        tensors = [tensor.clone() if view.name in copies else tensor for view, tensor in pairs]
        results = []
        for position, (view, array) in enumerate(zip(kernel.views, arrays, strict=True)):
            if array is None:
                tensors[position] = _empty(view, sizes, device)
                results.append(tensors[position])
        launch = _run(kernel, tensors, sizes)
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
    _REPEATS[form] = _Repeat(launch, pairs, outputs, apart=[])


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


def _check_overlap(kernel, arrays):
    """Names of inputs to copy, as an output shares their memory; other overlaps are refused."""
    copies = set()
    given = [(view, array) for view, array in zip(kernel.views, arrays, strict=True) if array is not None]
    for view, array in given:
        if view.direction != "In" and _folded(array):
            raise ValueError(f"{kernel.name}: {view.name} is written, but its elements overlap in memory")
    for (first, a), (second, b) in itertools.combinations(given, 2):
        written = [view.name for view in (first, second) if view.direction != "In"]
        if not written or not np.shares_memory(a, b):
            continue
        if kernel.overlap == "snapshot" and len(written) == 1:
            copies.add(first.name if first.direction == "In" else second.name)
            continue
        raise ValueError(f"{kernel.name}: {first.name} and {second.name} overlap in memory, which it does not support")
    return copies


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


def _run(kernel, tensors, sizes):
    with torch.cuda.device_of(tensors[0]):
        if _POISON:
            return _run_poisoned(kernel, tensors, sizes)
        return kernel.launch(*tensors, **sizes)


def _run_poisoned(kernel, tensors, sizes):
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
        kernel.launch(*tensors, **sizes)
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


def _launch(plan, views, integers, *, sizes, unit_strides):
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
    start = _start(kernel, plan.programs, views, integers, options)
    return lambda views, places: start(views, places, integers)


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
    (_INT4_GEMM, {"M": 3, "G": 5, "N": 37}),
    (_INT4_GEMM, {"M": 1, "G": 1, "N": 1}),
    (_INT4_GEMM, {"M": 32, "G": 16, "N": 64}),
)


def _self_check():
    """Small random inputs, poisoned outputs, every case twice; the number of cases that went wrong."""
    global _POISON
    _POISON = True
    generator, failures = np.random.default_rng(0), 0
    for kernel, sizes in _CASES:
        tensors = [_random(view, kernel, sizes, generator) for view in kernel.views]
        terms = max(tensor.numel() for tensor in tensors)
        first = _written(kernel, tensors, sizes)
        second = _written(kernel, tensors, sizes)
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


def _written(kernel, tensors, sizes):
    """Run on copies; the views that the kernel writes, by name."""
    copies = [tensor.clone() for tensor in tensors]
    _run(kernel, copies, sizes)
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
