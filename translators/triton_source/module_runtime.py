"""The part of a generated module that does not depend on the kernel: checks, transfers, launch.

Each piece is emitted only if something above it calls it. A line that ends in `#? a b` is kept if the module has
feature a or b, one that ends in `#? a&!b` if it has a and lacks b; the marker itself is never emitted.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache

from translators.triton_source import repeated_calls

MARKER = re.compile(r"\s*#\? (.*)$")

VIEW = '''
class _View(NamedTuple):
    """An array parameter: name, dtype, extents (numbers or names of sizes), direction."""

    name: str
    dtype: str
    shape: tuple
    direction: str
    strides: tuple = ()  # in elements: number, name of a size or None for a free one  #? strides
    alias: str = ""  # views of one group lie in one allocation  #? alias
    noalias: bool = False  # the caller promises that no other argument overlaps it  #? noalias
'''

KERNEL = '''
class _Kernel(NamedTuple):
    """What the wrappers know of a kernel."""

    name: str
    views: tuple
    launch: Callable
    scalars: tuple = ()  # (name, dtype)  #? scalars
    planned: tuple = ()  # positions of scalars that plans and requirements depend on  #? planned
    requirements: tuple = ()  # (predicate of planned scalars and sizes, message)  #? requirements&planned
    requirements: tuple = ()  # (predicate of the sizes, message)  #? requirements&!planned
    covered: tuple = ()  # outputs that are written in full
    overlap: str = "refuse"  # or same, snapshot: of a written array with another  #? same snapshot
'''

PLAN = '''
class _Plan(NamedTuple):
    """A device function, its number of programs and block sizes, and (warps, stages) by vendor."""

    kernel: Callable
    programs: int
    blocks: dict
    cuda: tuple
    hip: tuple
'''

CARRIERS = """
# NumPy has no such types: their bits travel in integers.
_CARRIERS = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
"""

INTEGERS = """
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""

HOST_CALL = '''
def _host_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _host_call(kernel, arrays, **sizes):  #? !scalars
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    scalars = _scalars(kernel, scalars)  #? scalars
    _require(kernel, sizes, scalars)  #? requirements&planned
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    _run(kernel, tensors, scalars, sizes)  #? scalars
    _run(kernel, tensors, sizes)  #? !scalars
    return _download(kernel, arrays, tensors)
'''

DEVICE_CALL = '''
def _device_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _device_call(kernel, arrays, **sizes):  #? !scalars
    """Run on device arrays, in place and on the current stream; as an earlier call did, if they have the same form."""
    form = _form(kernel, arrays, sizes, scalars)  #? planned
    form = _form(kernel, arrays, sizes)  #? !planned
    repeats = _REPEATS
    if form in repeats and _apart(repeats[form], arrays):
        return _run_again(kernel, repeats[form], arrays, scalars)  #? scalars
        return _run_again(kernel, repeats[form], arrays)  #? !scalars
    with _stream(arrays):
        tensors = [_tensor(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
        sizes = _check(kernel, tensors, sizes)
        scalars = _scalars(kernel, scalars)  #? scalars
        _require(kernel, sizes, scalars)  #? requirements&planned
        device = _common_device(kernel, tensors)
        places = [_Addresses.of(*pair) for pair in zip(tensors, arrays, strict=True)]  #? alias
        copies = _check_overlap(kernel, places)  #? snapshot&alias
        copies = _check_overlap(kernel, [_Addresses.of(tensor) for tensor in tensors])  #? snapshot&!alias
        pairs = zip(kernel.views, tensors, strict=True)  #? snapshot
        tensors = [tensor.clone() if view.name in copies else tensor for view, tensor in pairs]  #? snapshot
        _check_overlap(kernel, places)  #? !snapshot&alias
        _check_overlap(kernel, [_Addresses.of(tensor) for tensor in tensors])  #? !snapshot&!alias
        results = []
        for position, (view, array) in enumerate(zip(kernel.views, arrays, strict=True)):
            if array is None:
                tensors[position] = _empty(view, sizes, device)
                results.append(_like_inputs(tensors[position], arrays))  #? low
                results.append(tensors[position])  #? !low
        launch = _run(kernel, tensors, scalars, sizes)  #? scalars
        launch = _run(kernel, tensors, sizes)  #? !scalars
        _mark_changed(kernel, tensors)  #? composed
        if form is not None and launch is not None:
            _remember(form, kernel, arrays, tensors, launch)
        return _unwrap(results)
'''

CHECK_NUMPY = '''
def _check_numpy(kernel, view, array):
    """An output that is still to be allocated is None."""
    if array is None:
        return None
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{kernel.name}: {view.name} must be a NumPy array, not {type(array).__name__}")
    if view.direction != "In" and not array.flags.writeable:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only")
    return np.asarray(array)
'''

TENSOR = '''
def _tensor(kernel, view, array):
    """A torch tensor over the memory of a device array; None stands for an output that is still to be allocated."""
    if array is None or isinstance(array, torch.Tensor):
        tensor = array
    elif hasattr(array, "__cuda_array_interface__"):
        tensor = torch.as_tensor(array)
    elif hasattr(array, "__dlpack__"):
        tensor = torch.from_dlpack(array)
    else:
        raise TypeError(f"{kernel.name}: {view.name} must be a device array, not {type(array).__name__}")
    if tensor is not None and view.dtype in _CARRIERS and _dtype_name(tensor) == _CARRIERS[view.dtype]:  #? low
        return tensor.view(getattr(torch, view.dtype))  #? low
    return tensor
'''

LIKE_INPUTS = '''
def _like_inputs(tensor, arrays):
    """Arrays of a library without bfloat16 and float8 come as integers of their width, and so do its results."""
    integers = any(_dtype_name(array) in _CARRIERS.values() for array in arrays if hasattr(array, "dtype"))
    if integers and _dtype_name(tensor) in _CARRIERS:
        return tensor.view(getattr(torch, _CARRIERS[_dtype_name(tensor)]))
    return tensor
'''

DTYPE_NAME = """
def _dtype_name(array):
    return str(array.dtype).removeprefix("torch.") if isinstance(array, torch.Tensor) else array.dtype.name
"""

COMMON_DEVICE = '''
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
'''

STREAM = '''
def _stream(arrays):
    """CuPy's current stream if CuPy arrays are among the arguments, else torch's current stream."""
    if not any(type(array).__module__.partition(".")[0] == "cupy" for array in arrays):
        return contextlib.nullcontext()
    pointer = sys.modules["cupy"].cuda.get_current_stream().ptr
    return torch.cuda.stream(torch.cuda.ExternalStream(pointer) if pointer else torch.cuda.default_stream())
'''

CHECK = '''
def _check(kernel, arrays, sizes):
    """Hold every array against its declaration; the result maps each size name to its value."""
    for name, size in sizes.items():  #? outonly
        if not isinstance(size, numbers.Integral) or size < 0:  #? outonly
            raise ValueError(f"{kernel.name}: pass the size {name} of the output as {name}=..., not {size}")  #? outonly
    for view, array in zip(kernel.views, arrays, strict=True):
        if array is not None:
            _check_array(kernel, view, array, sizes)
    for holds, message in kernel.requirements:  #? requirements&!planned
        if not holds(**sizes):  #? requirements&!planned
            raise ValueError(f"{kernel.name}: {message}, but the sizes are {sizes}")  #? requirements&!planned
    return sizes
'''

REQUIRE = '''
def _require(kernel, sizes, scalars):
    """Hold sizes and scalars against what the kernel needs of them."""
    planned = {kernel.scalars[place][0]: scalars[place] for place in kernel.planned}
    for holds, message in kernel.requirements:
        if not holds(*planned.values(), **sizes):
            raise ValueError(f"{kernel.name}: {message}, but the arguments give {sizes | planned}")
'''

CHECK_ARRAY = """
def _check_array(kernel, view, array, sizes):
    dtype, shape = _dtype_name(array), tuple(array.shape)
    if dtype != view.dtype and not (view.dtype in _CARRIERS and dtype == _CARRIERS[view.dtype]):  #? low
    if dtype != view.dtype:  #? !low
        raise TypeError(f"{kernel.name}: {view.name} must have dtype {view.dtype}, not {dtype}")
    if len(shape) != len(view.shape):
        raise ValueError(f"{kernel.name}: {view.name} must have {len(view.shape)} axes {view.shape}, not shape {shape}")
    for axis, (extent, size) in enumerate(zip(view.shape, shape, strict=True)):
        expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
        if size != expected:
            known = expected if extent == expected else f"{extent} = {expected}"
            raise ValueError(f"{kernel.name}: axis {axis} of {view.name} must be {known}, not {size} (shape {shape})")
    for axis, (stride, actual) in enumerate(zip(view.strides, _strides(array), strict=False)):  #? strides
        expected = sizes.setdefault(stride, actual) if isinstance(stride, str) else stride  #? strides
        if expected is not None and actual != expected and shape[axis] > 1:  #? strides
            message = f"{kernel.name}: stride {axis} of {view.name} must be {expected}, not {actual}"  #? strides
            raise ValueError(message)  #? strides
"""

STRIDES = '''
def _strides(array):
    """In elements."""
    return array.stride() if isinstance(array, torch.Tensor) else [s // array.itemsize for s in array.strides]
'''

SCALARS = '''
def _scalars(kernel, values):
    return [
        value if type(value) is float and "float" in dtype else _scalar(kernel, name, dtype, value)
        for (name, dtype), value in zip(kernel.scalars, values, strict=True)
    ]


def _scalar(kernel, name, dtype, value):
    """A Python number that the dtype can hold."""
    kind = bool if dtype == "bool" else numbers.Integral if "int" in dtype else numbers.Real
    if not isinstance(value, (kind, np.bool_) if kind is bool else kind):
        raise TypeError(f"{kernel.name}: {name} must be a number of dtype {dtype}, not {value!r}")
    if kind is not numbers.Integral:
        return int(value) if kind is bool else float(value)  # the interpreter takes no Python bool
    if not torch.iinfo(getattr(torch, dtype)).min <= value <= torch.iinfo(getattr(torch, dtype)).max:
        raise ValueError(f"{kernel.name}: {name} must fit {dtype}, but is {value}")
    return int(value)
'''

CHECK_OVERLAP = '''
def _check_overlap(kernel, arrays):
    """Refuse a written array that shares memory with another argument in an unsupported way."""  #? !snapshot
    """Names of inputs to copy, as an output shares their memory; other overlaps are refused."""  #? snapshot
    copies = set()  #? snapshot
    given = [(view, array) for view, array in zip(kernel.views, arrays, strict=True) if array is not None]
    for view, array in given:
        if view.direction != "In" and _folded(array):
            raise ValueError(f"{kernel.name}: {view.name} is written, but its elements overlap in memory")
    for (first, a), (second, b) in itertools.combinations(given, 2):
        if first.alias and first.alias == second.alias and not _in_one_allocation(a, b):  #? alias
            raise ValueError(f"{kernel.name}: {first.name} and {second.name} must lie in one allocation")  #? alias
        written = [view.name for view in (first, second) if view.direction != "In"]
        promised = first.noalias or second.noalias  #? noalias
        if not (written or promised) or not np.shares_memory(a, b):  #? noalias
        if not written or not np.shares_memory(a, b):  #? !noalias
            continue
        if kernel.overlap == "same" and not promised and _elements(a) == _elements(b):  #? same&noalias
        if kernel.overlap == "same" and _elements(a) == _elements(b):  #? same&!noalias
            continue  #? same
        if kernel.overlap == "snapshot" and not promised and len(written) == 1:  #? snapshot&noalias
        if kernel.overlap == "snapshot" and len(written) == 1:  #? snapshot&!noalias
            copies.add(first.name if first.direction == "In" else second.name)  #? snapshot
            continue  #? snapshot
        raise ValueError(f"{kernel.name}: {first.name} and {second.name} overlap in memory, which it does not support")
    return copies  #? snapshot
'''

FOLDED = '''
def _folded(array):
    """Whether elements of an array may overlap: an axis steps over less memory than the axes of smaller steps take."""
    taken = array.itemsize
    for step, size in sorted(zip(map(abs, array.strides), array.shape, strict=True)) if array.size else ():
        if size > 1 and step < taken:
            return True
        taken += step * (size - 1)
    return False
'''

ALLOCATION = '''
def _in_one_allocation(first, second):
    """Two arrays are parts of one allocation, or may be."""
    places = _allocation(first), _allocation(second)
    return None in places or places[0] == places[1]


def _allocation(array):
    """Where the memory that the array is a part of begins; None if nobody says."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    if isinstance(array.base, _Addresses):  #? device
        return array.base.allocation  #? device
    return array.__array_interface__["data"][0]
'''

DEVICE_ALLOCATION = '''
def _device_allocation(array):
    """Where the device memory that the array is a part of begins; None if its library does not say."""
    if isinstance(array, torch.Tensor):
        return array.untyped_storage().data_ptr()
    memory = getattr(getattr(array, "data", None), "mem", None)  # CuPy's
    return getattr(memory, "ptr", None)
'''

ELEMENTS = '''
def _elements(array):
    """Equal for arrays of the same elements in the same order."""
    return array.__array_interface__["data"][0], array.strides, array.shape, array.dtype
'''

ADDRESSES = '''
class _Addresses:
    """A device tensor's addresses as a NumPy array that is never read, for NumPy's test of shared memory."""

    def __init__(self, tensor, array):  #? alias
    def __init__(self, tensor):  #? !alias
        size = tensor.element_size()
        self.allocation = _device_allocation(array)  #? alias
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), False),
            "typestr": f"|V{size}",
            "shape": tuple(tensor.shape),
            "strides": tuple(size * stride for stride in tensor.stride()),
        }

    @classmethod
    def of(cls, tensor, array):  #? alias
    def of(cls, tensor):  #? !alias
        return None if tensor is None or not tensor.numel() else np.array(cls(tensor, array), copy=False)  #? alias
        return None if tensor is None or not tensor.numel() else np.array(cls(tensor), copy=False)  #? !alias
'''

UPLOAD = '''
def _upload(kernel, arrays, sizes):
    """Device tensors for all arguments: only what the kernel reads is copied, and the same elements only once."""
    device, memory, tensors = _device(), {}, []
    keys = [_key(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    read = {key for view, key in zip(kernel.views, keys, strict=True) if view.direction != "Out"}
    for view, array, key in zip(kernel.views, arrays, keys, strict=True):
        if key not in memory:
            memory[key] = _to_device(array, view.dtype, device) if key in read else _empty(view, sizes, device)
        tensors.append(memory[key])
    return tensors


def _key(kernel, view, array):
    """Arguments with equal keys share device memory."""
    shared = view.direction == "In" or array is not None and kernel.overlap == "same"  #? same
    return _elements(array) if shared else view.name  #? same
    return _elements(array) if view.direction == "In" else view.name  #? !same
'''

TO_DEVICE = '''
def _to_device(array, dtype, device):
    """Copy a NumPy array of any layout and byte order to the device."""
    if array.dtype.name in _CARRIERS:  #? low
        array = array.view(_CARRIERS[dtype])  #? low
    native = np.dtype(array.dtype.name)
    if not array.flags.carray or array.dtype != native:
        array = array.astype(native, order="C")
    array = np.ndarray(array.shape, native, array)  # torch refuses odd strides also of an axis of length 1
    return torch.from_numpy(array).to(device, copy=True).view(getattr(torch, dtype))  #? low
    return torch.from_numpy(array).to(device, copy=True)  #? !low
'''

EMPTY = """
def _empty(view, sizes, device):
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in view.shape]
    return torch.empty(shape, dtype=getattr(torch, view.dtype), device=device)
"""

DOWNLOAD = '''
def _download(kernel, arrays, tensors):
    """Copy what was written into the caller's arrays, or into new ones; the only synchronise of the call."""
    named = any(array is not None and array.dtype.name in _CARRIERS for array in arrays)  #? low
    written = [view.direction != "In" for view in kernel.views]
    pairs = zip(tensors, written, strict=True)
    copies = [tensor.to("cpu", non_blocking=True) if copy else None for tensor, copy in pairs]
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    results = []
    for array, copy in zip(arrays, copies, strict=True):
        if array is None:
            results.append(_to_numpy(copy, named))  #? low
            results.append(copy.numpy())  #? !low
        elif copy is not None:
            array[...] = _to_numpy(copy, array.dtype.name in _CARRIERS)  #? low
            array[...] = copy.numpy()  #? !low
    return _unwrap(results)
'''

TO_NUMPY = '''
def _to_numpy(tensor, named):
    """bfloat16 and float8 become integers of their width, or arrays of these types if NumPy was taught their names."""
    name = _dtype_name(tensor)
    if name not in _CARRIERS:
        return tensor.numpy()
    array = tensor.view(getattr(torch, _CARRIERS[name])).numpy()
    return array.view(name) if named else array
'''

UNWRAP = '''
def _unwrap(results):
    """One result stands for itself, several are a tuple, none is None."""
    return tuple(results) if len(results) > 1 else results[0] if results else None
'''

DEVICE = """
def _device():
    if os.getenv("TRITON_INTERPRET") == "1":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    raise RuntimeError("no GPU found: use a machine with one, or set TRITON_INTERPRET=1 before Python starts")
"""

RUN = '''
def _run(kernel, tensors, scalars, sizes):  #? scalars
def _run(kernel, tensors, sizes):  #? !scalars
    with torch.cuda.device_of(tensors[0]):
        if os.getenv("INTENTC_POISON") == "1":
            return _run_poisoned(kernel, tensors, scalars, sizes)  #? scalars
            return _run_poisoned(kernel, tensors, sizes)  #? !scalars
        return kernel.launch(*tensors, *scalars, **sizes)  #? scalars
        return kernel.launch(*tensors, **sizes)  #? !scalars


def _run_poisoned(kernel, tensors, scalars, sizes):  #? scalars
def _run_poisoned(kernel, tensors, sizes):  #? !scalars
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
        kernel.launch(*tensors, *scalars, **sizes)  #? scalars
        kernel.launch(*tensors, **sizes)  #? !scalars
        for tensor, mask in zip(tensors, kept, strict=True):
            mask &= _bits(tensor) == _pattern(tensor, byte)
    for view, poison, mask in zip(kernel.views, poisoned, kept, strict=True):
        if poison and mask.any():
            message = f"{kernel.name}: {int(mask.sum())} of {mask.numel()} elements of {view.name} were not written"
            if view.name in kernel.covered:
                raise RuntimeError(message)
            print(message, file=sys.stderr)
'''

BITS = '''
def _bits(tensor):
    """The elements as integers of their width."""
    return tensor.view(_INTEGERS[tensor.element_size()])


def _pattern(tensor, byte):
    return int.from_bytes(bytes([byte] * tensor.element_size()), "little")
'''

SCRATCH = '''
def _scratch(wanted, device):
    """Uninitialised device memory; random bits where INTENTC_POISON=1 asks to see who relies on its contents."""
    memory = [torch.empty(elements, dtype=dtype, device=device) for elements, dtype in wanted]
    if os.getenv("INTENTC_POISON") == "1":
        for each in memory:
            each.view(torch.uint8).random_()
    return memory
'''

INDEX_TYPE = '''
def _index_type(*views):
    """The integer that holds every offset: 64-bit well before 2**31, as the last tile may reach past the end."""
    axes = (zip(view.shape, view.stride(), strict=True) for view in views)
    spans = (sum((size - 1) * abs(stride) for size, stride in pairs) for pairs in axes)
    return tl.int64 if max(spans) >= 2**30 else tl.int32
'''

LAUNCH = '''
def _launch(plan, views, integers, scalars=(), scratch=(), *, sizes, unit_strides):  #? scalars&scratch
def _launch(plan, views, integers, scalars=(), *, sizes, unit_strides):  #? scalars&!scratch
def _launch(plan, views, integers, scratch=(), *, sizes, unit_strides):  #? !scalars&scratch
def _launch(plan, views, integers, *, sizes, unit_strides):  #? !scalars&!scratch
    """Launch on the current stream, compiled for aligned arrays (innermost strides 1, else multiples of 16) or any.

    The result does the same with other views and scalars that are alike in this; None if there is nothing to do.
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
    memory, device = _scratch(scratch, views[0].device), views[0].device  #? scratch
    start = _start(kernel, plan.programs, (*views, *integers, *memory, *scalars), options)  #? scalars&scratch
    start = _start(kernel, plan.programs, (*views, *integers, *memory), options)  #? !scalars&scratch
    start = _start(kernel, plan.programs, (*views, *integers, *scalars), options)  #? scalars&!scratch
    start = _start(kernel, plan.programs, (*views, *integers), options)  #? !scalars&!scratch
    # Scratch belongs to one launch.  #? scratch
    return lambda views, scalars: start(*views, *integers, *_scratch(scratch, device), *scalars)  #? scalars&scratch
    return lambda views: start(*views, *integers, *_scratch(scratch, device))  #? !scalars&scratch
    return lambda views, scalars: start(*views, *integers, *scalars)  #? scalars&!scratch
    return lambda views: start(*views, *integers)  #? !scalars&!scratch


def _start(kernel, programs, arguments, options):
    """Compile before the launch, so that a failure to compile leaves the caller's arrays alone.

    The result launches the compiled function with other arguments.
    """
    arguments = [_passed(argument) for argument in arguments]  #? bytes
    start = functools.partial(kernel[(programs,)], **options)
    if hasattr(kernel, "warmup"):  # interpreters before Triton 3.6 have nothing to compile
        compiled = kernel.warmup(*arguments, grid=(programs,), **options)
        if isinstance(compiled, triton.compiler.CompiledKernel):
            constants = [options[name] for name in kernel.arg_names[len(arguments) :]]
            start = _with_constants(compiled[(programs, 1, 1)], constants)
    start(*arguments)
    return start  #? !bytes
    return lambda *arguments: start(*(_passed(argument) for argument in arguments))  #? bytes


def _with_constants(run, constants):
    return lambda *arguments: run(*arguments, *constants)


@functools.cache
def _specialised(kernel, unit_strides):
    """The kernel for strides, sizes and addresses of any alignment; only the named strides are known to be 1."""
    constants = [name for name, kind in kernel.fn.__annotations__.items() if kind is tl.constexpr]
    known = {*constants, *unit_strides}
    return triton.jit(kernel.fn, do_not_specialize=[name for name in kernel.arg_names if name not in known])
'''

PASSED = '''
def _passed(argument):
    """Not every GPU has floats of eight bits: kernels take the bytes."""
    is_float8 = isinstance(argument, torch.Tensor) and argument.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)
    return argument.view(torch.uint8) if is_float8 else argument
'''

SELF_CHECK = '''
def _self_check():
    """Small random inputs, poisoned outputs, every case twice; the number of cases that went wrong."""
    os.environ["INTENTC_POISON"] = "1"
    generator, failures = np.random.default_rng(0), 0
    for kernel, statement, sizes in _CASES:  #? statement
    for kernel, sizes in _CASES:  #? !statement
        tensors = [_random(view, kernel, sizes, generator) for view in kernel.views]
        scalars = [0.75 if "float" in dtype else dtype == "bool" or 1 for _, dtype in kernel.scalars]  #? scalars
        terms = max(tensor.numel() for tensor in tensors)
        first = _written(kernel, tensors, scalars, sizes)  #? scalars
        second = _written(kernel, tensors, scalars, sizes)  #? scalars
        first = _written(kernel, tensors, sizes)  #? !scalars
        second = _written(kernel, tensors, sizes)  #? !scalars
        wrong = [name for name in first if not _agree(first[name], second[name], terms)]
        if statement is not None:  #? statement
            expected = _stated(kernel, statement, tensors, scalars)  #? statement&scalars
            expected = _stated(kernel, statement, tensors)  #? statement&!scalars
            wrong += [name for name in first if not _agree(first[name], expected[name], terms)]  #? statement
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


def _written(kernel, tensors, scalars, sizes):  #? scalars
def _written(kernel, tensors, sizes):  #? !scalars
    """Run on copies; the views that the kernel writes, by name."""
    copies = [tensor.clone() for tensor in tensors]
    _run(kernel, copies, scalars, sizes)  #? scalars
    _run(kernel, copies, sizes)  #? !scalars
    return {view.name: copy for view, copy in zip(kernel.views, copies, strict=True) if view.direction != "In"}


def _stated(kernel, statement, tensors, scalars):  #? statement&scalars
def _stated(kernel, statement, tensors):  #? statement&!scalars
    """What the NumPy statement makes of the same inputs."""  #? statement
    pairs = zip(kernel.views, tensors, strict=True)  #? statement
    given = {view.name: _values(tensor) for view, tensor in pairs if view.direction != "Out"}  #? statement
    results = statement(*given.values(), *scalars)  #? statement&scalars
    results = statement(*given.values())  #? statement&!scalars
    outputs = [view.name for view in kernel.views if view.direction == "Out"]  #? statement
    stated = dict(zip(outputs, results if len(outputs) > 1 else [results], strict=True))  #? statement
    stated.update((view.name, given[view.name]) for view in kernel.views if view.direction == "InOut")  #? statement
    return {name: torch.as_tensor(value, device=_device()) for name, value in stated.items()}  #? statement
  #? statement
  #? statement
def _values(tensor):  #? statement
    """The tensor as a NumPy array, in a float type that NumPy has."""  #? statement
    dtype = str(tensor.dtype).removeprefix("torch.")  #? statement
    return np.array(tensor.tolist(), "float32" if dtype.startswith(("bfloat", "float8")) else dtype)  #? statement
  #? statement
  #? statement
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
'''

# In the order in which the module shows them.
BEFORE_KERNELS = (VIEW, KERNEL, PLAN, *repeated_calls.BEFORE_KERNELS, CARRIERS, INTEGERS)
CALLS = (
    HOST_CALL,
    DEVICE_CALL,
    *repeated_calls.AFTER_KERNELS,
    CHECK_NUMPY,
    TENSOR,
    LIKE_INPUTS,
    DTYPE_NAME,
    COMMON_DEVICE,
    STREAM,
)
CHECKS = (
    CHECK,
    REQUIRE,
    CHECK_ARRAY,
    STRIDES,
    SCALARS,
    CHECK_OVERLAP,
    FOLDED,
    ALLOCATION,
    DEVICE_ALLOCATION,
    ELEMENTS,
    ADDRESSES,
)
TRANSFERS = (UPLOAD, TO_DEVICE, EMPTY, DOWNLOAD, TO_NUMPY, UNWRAP, DEVICE)
AFTER_KERNELS = CALLS + CHECKS + TRANSFERS + (RUN, BITS, SCRATCH, LAUNCH, PASSED, INDEX_TYPE)
_DEFINITION = re.compile(r"^(?:class |def )?(_\w+)", re.MULTILINE)


def definitions(piece: str) -> list[str]:
    """The names that a piece defines for the module."""
    return _DEFINITION.findall(piece)


PRIVATE_NAMES = frozenset(
    name for piece in BEFORE_KERNELS + AFTER_KERNELS + (SELF_CHECK,) for name in definitions(piece)
) | {"_CASES"}


def select(text: str, features: Set[str]) -> str:
    """The template without the lines that its features leave out."""
    return "\n".join(kept for line in text.strip("\n").splitlines() if (kept := _keep(line, features)) is not None)


@cache
def _selected(piece: str, features: frozenset[str]) -> tuple[str, frozenset[str]]:
    """A template's text and the names it defines; the files of one run share most combinations."""
    text = select(piece, features)
    return text, frozenset(_DEFINITION.findall(text))


def needed(pieces: tuple[str, ...], used_by: str, features: Set[str]) -> list[str]:
    """The selected texts of those pieces that `used_by` mentions, directly or through each other."""
    selected = [_selected(piece, frozenset(features)) for piece in pieces]
    texts, defined = [text for text, _ in selected], [names for _, names in selected]
    chosen: set[int] = set()
    while True:
        mentioned = {word for word in re.findall(r"\w+", used_by) if word.startswith("_")}
        more = {place for place, names in enumerate(defined) if mentioned & names} - chosen
        if not more:
            return [texts[place] for place in sorted(chosen)]
        chosen |= more
        used_by = "\n".join(texts[place] for place in sorted(more))


def _keep(line: str, features: Set[str]) -> str | None:
    found = MARKER.search(line) if "#?" in line else None
    if found is None:
        return line
    alternatives = found.group(1).split()
    return line[: found.start()] if any(_holds(word, features) for word in alternatives) else None


def _holds(conjunction: str, features: Set[str]) -> bool:
    terms = conjunction.split("&")
    return all((term.lstrip("!") in features) != term.startswith("!") for term in terms)
