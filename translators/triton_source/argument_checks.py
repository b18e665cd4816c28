"""The part of a generated module that checks arguments. Marked lines are chosen as in `module_runtime`."""

from __future__ import annotations

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

CHECK = '''
def _check(kernel, arrays, sizes):
    """Hold every array against its declaration; the result maps each size name to its value."""
    for name, size in sizes.items():  #? outonly
        if not isinstance(size, numbers.Integral) or isinstance(size, bool) or size < 0:  #? outonly
            raise ValueError(f"{kernel.name}: pass the size {name} of the output as {name}=..., not {size}")  #? outonly
    for view, array in zip(kernel.views, arrays, strict=True):
        if array is not None:
            _check_array(kernel, view, array, sizes)
    extents = {extent for view in kernel.views for extent in view.shape}  #? namedstrides
    sizes = {name: size for name, size in sizes.items() if name in extents}  #? namedstrides
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
        declared = str(view.shape).replace("'", "")
        raise ValueError(f"{kernel.name}: {view.name} must have shape {declared}, not {shape}")
    for axis, (extent, size) in enumerate(zip(view.shape, shape, strict=True)):
        expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
        if size != expected:
            known = expected if extent == expected else f"{extent} = {expected}"
            raise ValueError(f"{kernel.name}: axis {axis} of {view.name} must be {known}, not {size} (shape {shape})")
    for axis, (stride, actual) in enumerate(zip(view.strides, _strides(array), strict=False)):  #? strides
        if stride is None or shape[axis] <= 1 or 0 in shape:  # free, or never used  #? strides
            continue  #? strides
        expected = sizes.setdefault(stride, actual) if isinstance(stride, str) else stride  #? namedstrides
        expected = stride  #? strides&!namedstrides
        if actual != expected:  #? strides
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
        if first.alias and first.alias == second.alias:  # as declared  #? alias
            continue  #? alias
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

AFTER_KERNELS = (
    CHECK_NUMPY,
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
