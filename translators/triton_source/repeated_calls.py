"""The part of a generated module that launches again what an earlier call with arrays of the same form launched.

Checks, plans and the search for a compiled function are most of what a call costs on the host. They depend on dtype,
shape, strides, device and alignment of the arrays and on scalars that bound parallel work, which make up a form, and on
how arrays overlap, which is compared in every call. A compiled function gets addresses, which the form has asked for,
as Triton would ask every tensor for its address and the driver for the address's kind. Marked lines are chosen as in
`module_runtime`.
"""

from __future__ import annotations

REPEAT = '''
class _Repeat(NamedTuple):
    """How to process arrays of the form that an earlier call had."""

    launch: Callable  # takes tensors, their addresses and scalars  #? scalars
    launch: Callable  # takes tensors and their addresses  #? !scalars
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do, in place or not  #? same
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do  #? !same
    outputs: list  # to be allocated: position, shape, dtype, device
    kinds: list  # of scalars that need no look: float, None for those that do  #? scalars
    apart: list  # addresses that were compared last
'''

REPEATS = """
_REPEATS = {}  # by form
_PLAIN = {torch.Tensor, torch.nn.Parameter}
"""

FORM = '''
def _form(kernel, arrays, sizes, scalars):  #? planned
def _form(kernel, arrays, sizes):  #? !planned
    """What checks and plans depend on apart from overlaps, None where they are made in every call; and addresses."""
    form, addresses = [kernel.name, *sizes.items()], []  #? outonly
    form, addresses = [kernel.name], []  #? !outonly
    for array in arrays:
        if type(array) in _PLAIN:
            address = array.data_ptr()
            addresses.append(address)
            form += array.dtype, array.shape, array.stride(), array.device, address % 16
        elif type(array) is np.ndarray:  #? host
            form += array.dtype, array.shape, array.strides, array.flags.writeable  #? host
        else:  # none, or one that is looked at anew in every call
            addresses.append(None)
            form.append(type(array))
    values = [scalars[place] for place in kernel.planned]  #? planned
    form += values  #? planned
    exact = all(type(size) is int for size in sizes.values())  #? outonly
    exact = exact and all(type(value) in (int, float, bool) for value in values)  #? planned&outonly
    exact = all(type(value) in (int, float, bool) for value in values)  #? planned&!outonly
    return (tuple(form) if exact and not _POISON else None), addresses  #? planned outonly
    return (None if _POISON else tuple(form)), addresses  #? !planned&!outonly
'''

OVERLAP = '''
def _overlap(repeat, addresses):
    """Whether arrays overlap otherwise than those of the earlier call."""
    for one, other, low, high, in_place in repeat.pairs:  #? same
    for one, other, low, high in repeat.pairs:  #? !same
        if low < addresses[other] - addresses[one] < high:  #? !same
        distance = addresses[other] - addresses[one]  #? same
        if low < distance < high and not (in_place and distance == 0):  #? same
            return True
    repeat.apart[:] = (addresses,)
    return False
'''

WITH_OUTPUTS = '''
def _with_outputs(repeat, arrays, addresses):
    """New arrays in the places of outputs, with their addresses; and what is returned of them."""
    tensors, addresses, results = list(arrays), list(addresses), []
    for position, shape, dtype, device in repeat.outputs:
        tensor = tensors[position] = torch.empty(shape, dtype=dtype, device=device)
        addresses[position] = tensor.data_ptr()
        results.append(tensor)
    return tensors, addresses, results
'''

REMEMBER = '''
def _remember(form, kernel, arrays, tensors, launch):
    """Keep a launch for later calls, unless an array of this one is of another kind, or was copied."""
    global _REPEATS
    places = [place for place, array in enumerate(arrays) if array is not None]
    if any(view.alias for view in kernel.views):  # allocations are looked at in every call  #? alias
        return  #? alias
    plain = all(type(arrays[place]) in _PLAIN and tensors[place] is arrays[place] for place in places)
    if not places or not plain:
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
    kinds = [float if "float" in dtype else None for _, dtype in kernel.scalars]  #? scalars
    _REPEATS[form] = _Repeat(launch, pairs, outputs, kinds, apart=[])  #? scalars
    _REPEATS[form] = _Repeat(launch, pairs, outputs, apart=[])  #? !scalars


def _span(tensor):
    """Bytes from the first element to the end of the last."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size() if tensor.numel() else 0
'''

BEFORE_KERNELS = (REPEAT, REPEATS)
AFTER_KERNELS = (FORM, OVERLAP, WITH_OUTPUTS, REMEMBER)
