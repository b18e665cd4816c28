"""The part of a generated module that launches again what an earlier call with arrays of the same form launched.

Checks, plans and the search for a compiled function are most of what a call costs on the host. They depend on dtype,
shape, strides, device and alignment of the arrays and on scalars that bound parallel work, which make up a form, and on
how arrays overlap, which is compared in every call. Marked lines are chosen as in `module_runtime`.
"""

from __future__ import annotations

REPEAT = '''
class _Repeat(NamedTuple):
    """How to process arrays of the form that an earlier call had."""

    launch: Callable  # takes tensors and scalars
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do, in place or not  #? same
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do  #? !same
    outputs: list  # to be allocated: position, shape, dtype, device
'''

REPEATS = """
_REPEATS = {}  # by form
_PLAIN = {torch.Tensor, torch.nn.Parameter}
"""

FORM = '''
def _form(kernel, arrays, sizes, scalars):  #? planned
def _form(kernel, arrays, sizes):  #? !planned
    """What checks and plans depend on, apart from overlaps; None where they are to be made in every call."""
    if any(type(size) is not int for size in sizes.values()):  #? outonly
        return None  #? outonly
    form = [kernel.name, *sizes.items()]  #? outonly
    form = [kernel.name]  #? !outonly
    for place in kernel.planned:  #? planned
        if type(scalars[place]) not in (int, float, bool):  #? planned
            return None  #? planned
        form.append(scalars[place])  #? planned
    for array in arrays:
        if type(array) in _PLAIN:
            form += (array.dtype, array.shape, array.stride(), array.device, array.data_ptr() % 16)
        elif type(array) is np.ndarray:
            form += (array.dtype, array.shape, array.strides, array.flags.writeable)
        elif array is None:
            form.append(None)
        else:
            return None
    return None if os.getenv("INTENTC_POISON") == "1" else tuple(form)
'''

APART = '''
def _apart(repeat, arrays):
    """Whether arrays overlap no more than those of the earlier call."""
    for one, other, low, high, in_place in repeat.pairs:  #? same
    for one, other, low, high in repeat.pairs:  #? !same
        distance = arrays[other].data_ptr() - arrays[one].data_ptr()
        if low < distance < high and not (in_place and distance == 0):  #? same
        if low < distance < high:  #? !same
            return False
    return True
'''

RUN_AGAIN = '''
def _run_again(kernel, repeat, arrays, scalars):  #? scalars
def _run_again(kernel, repeat, arrays):  #? !scalars
    """Launch what the earlier call launched: its checks hold for these arrays as well."""
    scalars = _scalars(kernel, scalars)  #? scalars
    tensors, results = list(arrays), []
    for position, shape, dtype, device in repeat.outputs:
        tensors[position] = torch.empty(shape, dtype=dtype, device=device)
        results.append(_like_inputs(tensors[position], arrays))  #? low
        results.append(tensors[position])  #? !low
    with torch.cuda.device_of(tensors[0]):
        repeat.launch(tensors, scalars)  #? scalars
        repeat.launch(tensors)  #? !scalars
    _mark_changed(kernel, tensors)  #? composed
    return _unwrap(results)
'''

REMEMBER = '''
def _remember(form, kernel, arrays, tensors, launch):
    """Keep a launch for later calls, unless an array of this one had to be converted or copied."""
    global _REPEATS
    places = [place for place, array in enumerate(arrays) if array is not None]
    if any(view.alias for view in kernel.views):  # allocations are looked at in every call  #? alias
        return  #? alias
    if not places or any(tensors[place] is not arrays[place] for place in places):
        return
    pairs = []
    for one, other in itertools.combinations(places, 2):
        first, second = kernel.views[one], kernel.views[other]
        promised = first.noalias or second.noalias  #? noalias
        if promised or first.direction != "In" or second.direction != "In":  #? noalias
        if first.direction != "In" or second.direction != "In":  #? !noalias
            a, b = tensors[one], tensors[other]
            alike = (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())  #? same
            in_place = alike and kernel.overlap == "same"  #? same
            pairs.append((one, other, -_span(b), _span(a), in_place and not promised))  #? same&noalias
            pairs.append((one, other, -_span(b), _span(a), in_place))  #? same&!noalias
            pairs.append((one, other, -_span(b), _span(a)))  #? !same
    outputs = [(place, t.shape, t.dtype, t.device) for place, t in enumerate(tensors) if arrays[place] is None]
    if len(_REPEATS) >= 1024:  # sizes may change without end
        _REPEATS = {}  # and other threads may be reading
    _REPEATS[form] = _Repeat(launch, pairs, outputs)


def _span(tensor):
    """Bytes from the first element to the end of the last."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size() if tensor.numel() else 0
'''

BEFORE_KERNELS = (REPEAT, REPEATS)
AFTER_KERNELS = (FORM, APART, RUN_AGAIN, REMEMBER)
