"""The part of a generated module that runs composed functions: arrays to tensors, and back what was changed.

Marked lines are chosen as in `module_runtime`.
"""

from __future__ import annotations

from translators.triton_source.module_runtime import definitions

HOST_COMPOSITION = '''
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
    named = any(array.dtype.name in _CARRIERS for array in originals.values())  #? low

    def in_memory(tensor):
        return _typed(_to_numpy(tensor.detach()), _dtype_name(tensor), named)  #? low
        return _to_numpy(tensor.detach())  #? !low

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
'''

MARK_CHANGED = '''
def _mark_changed(kernel, tensors):
    """Tell PyTorch what a kernel has written, as it notes itself for operations of its own."""
    written = [tensor for view, tensor in zip(kernel.views, tensors, strict=True) if view.direction != "In"]
    torch.autograd.graph.increment_version([tensor for tensor in written if not tensor.is_inference()])
'''

DEVICE_COMPOSITION = '''
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
'''

EACH = '''
def _each(value, wanted, change):
    """A value with every wanted part of it changed, also within tuples, lists and dictionaries."""
    if wanted(value):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(_each(item, wanted, change) for item in value)
    if type(value) is dict:
        return {key: _each(item, wanted, change) for key, item in value.items()}
    return value
'''

PAIRED = '''
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
'''

ARTIFACT = '''
class _Artifact(NamedTuple):
    """A kernel as a value: called with all its arrays, run to allocate the outputs, or prepared to be called later."""

    launch: Callable
    run: Callable
    prepare: Callable

    def __call__(self, *arguments, **keywords):
        self.launch(*arguments, **keywords)
'''

PREPARED = '''
class _Prepared(NamedTuple):
    """A call whose arguments are bound: launched as often as wanted; its outputs, whether or not it was."""

    launch: Callable
    outputs: tuple

    def result(self):
        return _unwrap(self.outputs)
'''

PREPARE = '''
def _prepare(kernel, arrays, scalars=(), outputs=None, **sizes):  #? scalars
def _prepare(kernel, arrays, outputs=None, **sizes):  #? !scalars
    """Bind the arguments of a call; outputs that are not given are allocated."""
    places = [place for place, view in enumerate(kernel.views) if view.direction == "Out"]
    if outputs is None:
        tensors = [_tensor(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
        sizes, device = _check(kernel, tensors, sizes), _common_device(kernel, tensors)
        outputs = [_empty(kernel.views[place], sizes, device) for place in places]
    outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
    if len(outputs) != len(places):
        raise TypeError(f"{kernel.name}: outputs has {len(outputs)} arrays for {len(places)} outputs")
    bound = list(arrays)
    for place, output in zip(places, outputs, strict=True):
        bound[place] = output
    return _Prepared(functools.partial(_device_call, kernel, bound, scalars), outputs)  #? scalars
    return _Prepared(functools.partial(_device_call, kernel, bound), outputs)  #? !scalars
'''

# In the order in which the module shows them.
BEFORE_COMPOSITIONS = (ARTIFACT, PREPARED)
AFTER_COMPOSITIONS = (PREPARE, HOST_COMPOSITION, MARK_CHANGED, DEVICE_COMPOSITION, EACH, PAIRED)
PRIVATE_NAMES = frozenset(name for piece in BEFORE_COMPOSITIONS + AFTER_COMPOSITIONS for name in definitions(piece))
