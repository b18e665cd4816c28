"""The part of a generated module that does not depend on the kernel, without checks, repeated calls and transfers.

Each piece is emitted only if something above it calls it. A line that ends in `#? a b` is kept if the module has
feature a or b, one that ends in `#? a&!b` if it has a and lacks b; the marker itself is never emitted.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache

from translators.triton_source import argument_checks, host_transfers, repeated_calls
from translators.triton_source.selfcheck_runtime import SELF_CHECK

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

POISON = """
_POISON = os.getenv("INTENTC_POISON") == "1"  # calls find out what they leave unwritten
"""

INTEGERS = """
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
"""

DEVICE_CALL = '''
def _device_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _device_call(kernel, arrays, **sizes):  #? !scalars
    """Run on device arrays, in place and on the current stream; as an earlier call did, if they have the same form."""
    form, addresses = _form(kernel, arrays, sizes, scalars)  #? planned
    form, addresses = _form(kernel, arrays, sizes)  #? !planned
    try:
        repeat = _REPEATS[form]
    except KeyError:
        repeat = None
    if repeat is None or ([addresses] != repeat.apart and _overlap(repeat, addresses)):
        return _first_call(kernel, arrays, scalars, sizes, form)  #? scalars
        return _first_call(kernel, arrays, sizes, form)  #? !scalars
    if [*map(type, scalars)] != repeat.kinds:  #? scalars
        scalars = _scalars(kernel, scalars)  #? scalars
    if repeat.outputs:
        arrays, addresses, results = _with_outputs(repeat, arrays, addresses)
    repeat.launch(arrays, addresses, scalars)  #? scalars
    repeat.launch(arrays, addresses)  #? !scalars
    _mark_changed(kernel, arrays)  #? composed
    return _unwrap(results) if repeat.outputs else None


def _first_call(kernel, arrays, scalars, sizes, form):  #? scalars
def _first_call(kernel, arrays, sizes, form):  #? !scalars
    """Check, choose, compile and launch, and keep what was launched for later calls."""
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
                results.append(_like_inputs(kernel, tensors[position], arrays))  #? low
                results.append(tensors[position])  #? !low
        launch = _run(kernel, tensors, scalars, sizes)  #? scalars
        launch = _run(kernel, tensors, sizes)  #? !scalars
        _mark_changed(kernel, tensors)  #? composed
        if form is not None and launch is not None:
            _remember(form, kernel, arrays, tensors, launch)
        return _unwrap(results)
'''

TENSOR = '''
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
    if tensor is not None and view.dtype in _CARRIERS and _dtype_name(tensor) == _CARRIERS[view.dtype]:  #? low
        return tensor.view(getattr(torch, view.dtype))  #? low
    return tensor
'''

CHECK_WRITABLE = '''
def _check_writable(kernel, view, array):
    """An array that is read-only refuses to give its memory without a version, which could not say so."""
    try:
        array.__dlpack__()
    except BufferError as error:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only") from error
'''

LIKE_INPUTS = '''
def _like_inputs(kernel, tensor, arrays):
    """Arrays of a library without bfloat16 and float8 come as integers of their width, and so do its results."""
    pairs = [(view.dtype, array) for view, array in zip(kernel.views, arrays, strict=True) if array is not None]
    carried = any(dtype in _CARRIERS and _dtype_name(array) == _CARRIERS[dtype] for dtype, array in pairs)
    if carried and _dtype_name(tensor) in _CARRIERS:
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

EMPTY = """
def _empty(view, sizes, device):
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in view.shape]
    return torch.empty(shape, dtype=getattr(torch, view.dtype), device=device)
"""

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
        if _POISON:
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
    if _POISON:
        for each in memory:
            each.view(torch.uint8).random_()
    return memory
'''

ALLOCATING = '''
def _allocating(start, *arguments):
    """Triton asks an allocator for the memory of descriptors; one that the caller has set stays set."""
    contextvars.copy_context().run(_launch_allocating, start, arguments)


def _launch_allocating(start, arguments):
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.uint8, device="cuda"))
    start(*arguments)
'''

INDEX_TYPE = '''
def _index_type(*views):
    """The integer that holds every offset: 64-bit well before 2**31, as the last tile may reach past the end."""
    axes = (zip(view.shape, view.stride(), strict=True) for view in views)
    spans = (sum((size - 1) * abs(stride) for size, stride in pairs) for pairs in axes)
    return tl.int64 if max(spans) >= 2**30 else tl.int32
'''
TILE_PROCESSORS = '''
def _tile_processors(index, *views):
    """How many processors can copy tiles of these arrays by themselves: 0 unless all are aligned and have elements."""
    device = views[0].device
    if device.type != "cuda" or torch.version.hip or torch.cuda.get_device_capability(device)[0] != 9:
        return 0
    for view in views:
        if not view.numel() or (view.dim() and view.stride(-1) != 1) or not _aligned(view):
            return 0
    return torch.cuda.get_device_properties(device).multi_processor_count if index is tl.int32 else 0


def _aligned(view):
    """Whether all rows begin at multiples of 16 bytes."""
    steps = [stride * view.element_size() for stride in view.stride()[:-1]]
    return all(step > 0 and step % 16 == 0 for step in (view.data_ptr(), *steps))
'''

ALIGNED_ROWS = '''
def _rows_to_align(views, processors):
    """Whether processors could copy tiles if rows that are contiguous were aligned as well."""
    rows = all(view.numel() and view.stride(-1) == 1 for view in views)
    return processors and rows and not all(_aligned(view) for view in views)


def _launch_aligned(launch, views, places, scalars=(), **sizes):  #? scalars
def _launch_aligned(launch, views, places, **sizes):  #? !scalars
    """Launch with copies of some views, in rows that are aligned."""

    def prepared(views):
        return [_in_aligned_rows(view) if place in places else view for place, view in enumerate(views)]

    start = launch(*prepared(views), *scalars, **sizes)  #? scalars
    start = launch(*prepared(views), **sizes)  #? !scalars

    def again(views, _, scalars):  #? scalars
    def again(views, _):  #? !scalars
        copies = prepared(views)
        start(copies, [copy.data_ptr() for copy in copies], scalars)  #? scalars
        start(copies, [copy.data_ptr() for copy in copies])  #? !scalars

    return start and again


def _in_aligned_rows(view):
    if _aligned(view):
        return view
    *rows, columns = view.shape
    memory = torch.empty((*rows, -(-columns // 16) * 16), dtype=view.dtype, device=view.device)[..., :columns]
    return memory.copy_(view)
'''

LAUNCH = '''
def _launch(plan, views, integers, scalars=(), scratch=(), *, sizes, unit_strides):  #? scalars&scratch
def _launch(plan, views, integers, scalars=(), *, sizes, unit_strides):  #? scalars&!scratch
def _launch(plan, views, integers, scratch=(), *, sizes, unit_strides):  #? !scalars&scratch
def _launch(plan, views, integers, *, sizes, unit_strides):  #? !scalars&!scratch
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
    if "INDEX" in options and max((elements for elements, _ in scratch), default=0) >= 2**30:  #? scratch
        options["INDEX"] = tl.int64  #? scratch
    memory, device = _scratch(scratch, views[0].device), views[0].device  #? scratch
    start = _start(kernel, plan.programs, views, (*integers, *memory, *scalars), options)  #? scalars&scratch
    start = _start(kernel, plan.programs, views, (*integers, *memory), options)  #? !scalars&scratch
    start = _start(kernel, plan.programs, views, (*integers, *scalars), options)  #? scalars&!scratch
    start = _start(kernel, plan.programs, views, integers, options)  #? !scalars&!scratch
    fresh = functools.partial(_scratch, scratch, device)  # scratch belongs to one launch  #? scratch
    return lambda views, places, scalars: start(views, places, (*integers, *fresh(), *scalars))  #? scalars&scratch
    return lambda views, places: start(views, places, (*integers, *fresh()))  #? !scalars&scratch
    return lambda views, places, scalars: start(views, places, (*integers, *scalars))  #? scalars&!scratch
    return lambda views, places: start(views, places, integers)  #? !scalars&!scratch


def _start(kernel, programs, views, others, options):
    """Compile before the launch, so that a failure to compile leaves the caller's arrays alone.

    The result launches the compiled function with other views, or their addresses, and other arguments behind them.
    """
    arguments = (*map(_passed, views), *others)  #? bytes
    arguments = (*views, *others)  #? !bytes
    start = _interpreted(kernel[(programs,)], options)
    if hasattr(kernel, "warmup"):  # interpreters before Triton 3.6 have nothing to compile
        compiled = kernel.warmup(*arguments, grid=(programs,), **options)
        if isinstance(compiled, triton.compiler.CompiledKernel):
            constants = [options[name] for name in kernel.arg_names[len(arguments) :]]
            start = _compiled(compiled[(programs, 1, 1)], constants)
            if getattr(compiled.metadata, "global_scratch_size", 0):  #? described
                start = functools.partial(_allocating, start)  #? described
    start(views, [view.data_ptr() for view in views], others)
    return start


def _interpreted(run, options):
    return lambda views, _, others: run(*map(_passed, views), *others, **options)  #? bytes
    return lambda views, _, others: run(*views, *others, **options)  #? !bytes


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
'''

PASSED = '''
def _passed(argument):
    """Not every GPU has floats of eight bits: kernels take the bytes."""
    is_float8 = isinstance(argument, torch.Tensor) and argument.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)
    return argument.view(torch.uint8) if is_float8 else argument
'''

# In the order in which the module shows them.
BEFORE_KERNELS = (
    VIEW,
    KERNEL,
    PLAN,
    *repeated_calls.BEFORE_KERNELS,
    *host_transfers.BEFORE_KERNELS,
    CARRIERS,
    INTEGERS,
    POISON,
)
AFTER_KERNELS = (
    host_transfers.HOST_CALL,
    host_transfers.PACKED,
    DEVICE_CALL,
    *repeated_calls.AFTER_KERNELS,
    TENSOR,
    CHECK_WRITABLE,
    LIKE_INPUTS,
    DTYPE_NAME,
    host_transfers.CARRIED,
    host_transfers.TYPED,
    COMMON_DEVICE,
    STREAM,
    *argument_checks.AFTER_KERNELS,
    EMPTY,
    UNWRAP,
    DEVICE,
    RUN,
    BITS,
    SCRATCH,
    LAUNCH,
    PASSED,
    ALLOCATING,
    INDEX_TYPE,
    TILE_PROCESSORS,
    ALIGNED_ROWS,
    *host_transfers.AFTER_KERNELS,
    *host_transfers.MOVES,
)
_DEFINITION = re.compile(r"^(?:class |def )?(_\w+)", re.MULTILINE)
_PRIVATE = re.compile(r"_(?<!\w_)\w+")  # words; what begins with a literal is found faster


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
def _selected(piece: str, features: frozenset[str]) -> tuple[str, frozenset[str], frozenset[str]]:
    """A template's text, the names it defines and those it mentions; the files of one run share most combinations."""
    text = select(piece, features)
    return text, frozenset(_DEFINITION.findall(text)), frozenset(_PRIVATE.findall(text))


def needed(pieces: tuple[str, ...], used_by: str, features: Set[str]) -> list[str]:
    """The selected texts of those pieces that `used_by` mentions, directly or through each other."""
    selected = [_selected(piece, frozenset(features)) for piece in pieces]
    mentioned: Set[str] = set(_PRIVATE.findall(used_by))
    chosen: set[int] = set()
    while True:
        more = {place for place, (_, defined, _) in enumerate(selected) if mentioned & defined} - chosen
        if not more:
            return [selected[place][0] for place in sorted(chosen)]
        chosen |= more
        mentioned = frozenset().union(*(selected[place][2] for place in more))


def _keep(line: str, features: Set[str]) -> str | None:
    found = MARKER.search(line) if "#?" in line else None
    if found is None:
        return line
    alternatives = found.group(1).split()
    return line[: found.start()] if any(_holds(word, features) for word in alternatives) else None


def _holds(conjunction: str, features: Set[str]) -> bool:
    terms = conjunction.split("&")
    return all((term.lstrip("!") in features) != term.startswith("!") for term in terms)
