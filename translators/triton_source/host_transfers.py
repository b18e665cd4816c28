"""The part of a generated module that moves NumPy arrays to the device and back.

Copies between pageable memory and a device are slow. Arrays therefore pass through two slots of pinned memory, part
by part: while one part is on the bus, threads of PyTorch copy the next between its slot and the array. The threads, not
the bus, are what a call waits for, and half of what they do for a result in new memory is to clear its pages for the
system. So the memory of a result that is gone is kept for the next of its size. Arrays of few bytes are packed: a call
is one copy up, a launch and one copy down; what the call does is kept, as for repeated calls of device functions.
PyTorch keeps pinned memory for the next call, and does not hand it out while a copy that uses it is on its way; calls
of several threads have slots of their own. Two slots of 32 MB in each direction took the least time of eleven choices,
from 8 of 1 MB to 4 of 32 MB, in every row of `benchmarks/host_calls.py` (docs/performance.md). Marked lines are chosen
as in `module_runtime`.
"""

from __future__ import annotations

HOST_CALL = '''
def _host_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _host_call(kernel, arrays, **sizes):  #? !scalars
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form, _ = _form(kernel, arrays, sizes, scalars)  #? planned
    form, _ = _form(kernel, arrays, sizes)  #? !planned
    packed = _PACKED.get(form)
    if packed and not any(np.may_share_memory(arrays[one], arrays[other]) for one, other in packed.pairs):
        return packed.run(arrays, scalars)  #? scalars
        return packed.run(arrays)  #? !scalars
    plain = all(array is None or type(array) is np.ndarray for array in arrays)
    pairs = _pairs(kernel, arrays)
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    scalars = _scalars(kernel, scalars)  #? scalars
    _require(kernel, sizes, scalars)  #? requirements&planned
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, scalars, sizes)  #? scalars
    launch = _run(kernel, tensors, sizes)  #? !scalars
    results = _download(kernel, arrays, tensors)
    aliases = any(view.alias for view in kernel.views)  # allocations are looked at in every call  #? alias
    few = plain and sum(tensor.nbytes for tensor in tensors) <= _PACKED_BYTES
    if form is not None and launch is not None and few and not aliases:  #? alias
    if form is not None and launch is not None and few:  #? !alias
        if len(_PACKED) >= 64:  # sizes may change without end
            _PACKED.clear()
        _PACKED[form] = _Packed(_packed(kernel, tensors, launch), pairs)
    return results
'''

UPLOAD = '''
def _upload(kernel, arrays, sizes):
    """Device tensors for all arguments: only what the kernel reads is copied, and the same elements only once."""
    device, memory, tensors = _device(), {}, {}
    tensors = _upload_overlapping(kernel, arrays, device)  #? alias
    pairs = zip(kernel.views, arrays, strict=True)
    for view, array in sorted(pairs, key=lambda pair: pair[0].direction == "Out"):  # after those that are read
        if view.name in tensors:  #? alias
            continue  #? alias
        shared = view.direction == "In" or array is not None and kernel.overlap == "same"  #? same
        key = _elements(array) if shared else view.name  #? same
        key = _elements(array) if view.direction == "In" else view.name  #? !same
        if key not in memory:
            read = view.direction != "Out"
            memory[key] = _to_device(array, view.dtype, device) if read else _empty(view, sizes, device)
        tensors[view.name] = memory[key]
    return [tensors[view.name] for view in kernel.views]
'''

UPLOAD_OVERLAPPING = '''
def _upload_overlapping(kernel, arrays, device):
    """Device tensors for arrays that overlap as declared, by name: parts of one tensor of all the bytes they lie in."""
    given = [pair for pair in zip(kernel.views, arrays, strict=True) if pair[0].alias and pair[1] is not None]
    joined = {}
    for pair in itertools.combinations(given, 2):
        (first, a), (second, b) = pair
        written = [view.name for view in (first, second) if view.direction != "In"]
        alike = first.alias == second.alias and written
        if kernel.overlap == "snapshot" and len(written) == 1:  # the input is copied  #? snapshot
            continue  #? snapshot
        if alike and np.shares_memory(a, b):
            joined |= {view.name: (view, array) for view, array in pair}
    places = [(*_bounds(array), view, array) for view, array in joined.values()]
    clusters, end = [], None
    for place in sorted(places, key=lambda place: place[:2]):
        if end is None or place[0] >= end:
            clusters.append([])
            end = place[1]
        clusters[-1].append(place)
        end = max(end, place[1])
    tensors = {}
    for cluster in clusters:
        tensors |= _parts_of_one(kernel, cluster, device)
    return tensors


def _bounds(array):
    """The address of its first byte, and that after its last."""
    start, reach = array.ctypes.data, [(size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(each for each in reach if each < 0), sum(each for each in reach if each > 0)
    return start + low, start + high + array.itemsize


def _parts_of_one(kernel, cluster, device):
    if len({_elements(array) for _, _, _, array in cluster}) == 1:  # with any steps
        _, _, view, array = cluster[0]
        return dict.fromkeys((view.name for _, _, view, _ in cluster), _to_device(array, view.dtype, device))
    first, last, tensors = cluster[0][0], max(end for _, end, _, _ in cluster), {}
    owners = [array for _, _, _, array in cluster]  # keeps the memory alive
    interface = {"version": 3, "data": (first, False), "typestr": "|u1", "shape": (last - first,)}
    memory = np.asarray(types.SimpleNamespace(__array_interface__=interface, owners=owners))
    memory = _to_device(memory, "uint8", device)
    for start, _, view, array in cluster:
        size, pairs = array.itemsize, zip(array.strides, array.shape, strict=True)
        steps = [step if length > 1 else 0 for step, length in pairs]
        if (start - first) % size or any(step < 0 or step % size for step in steps):
            raise ValueError(f"{kernel.name}: {view.name} overlaps in memory in steps, which it does not support")
        whole = memory[start - first : last - first]
        whole = whole[: whole.numel() // size * size].view(getattr(torch, view.dtype))
        tensors[view.name] = whole.as_strided(array.shape, [step // size for step in steps])
    return tensors
'''

DOWNLOAD = '''
def _download(kernel, arrays, tensors):
    """Copy what was written into the caller's arrays, or into new ones; the only synchronise of the call."""
    named = _with_types(arrays)  #? low
    results = []
    for view, array, tensor in zip(kernel.views, arrays, tensors, strict=True):
        if array is None:
            results.append(_typed(_to_numpy(_carried(tensor)), tensor, named))  #? low
            results.append(_to_numpy(tensor))  #? !low
        elif view.direction != "In":
            _to_numpy(_carried(tensor), _carried(array))  #? low
            _to_numpy(tensor, array)  #? !low
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return _unwrap(results)
'''

PACKED_CALL = '''
class _Packed(NamedTuple):
    """How to process small arrays of the form that an earlier call had, unless two of certain pairs overlap."""

    run: Callable  # takes arrays and scalars  #? scalars
    run: Callable  # takes arrays  #? !scalars
    pairs: list


_PACKED = {}  # by form
_PACKED_BYTES = 1 << 18
'''

PACKED = '''
def _packed(kernel, tensors, launch):
    """Arrays like these, whose bytes are few, share memory from now on, and move in one copy each way."""
    starts = [0, *itertools.accumulate(-(-tensor.nbytes // 256) * 256 for tensor in tensors)]
    memory = torch.empty(starts[-1], dtype=torch.uint8, device=tensors[0].device)
    pinned, lock = torch.empty(starts[-1], dtype=torch.uint8, pin_memory=memory.is_cuda), threading.Lock()
    places = list(zip(starts, tensors, strict=False))
    staged = [_carried(_part(pinned, *place)).numpy() for place in places]  #? low
    staged = [_part(pinned, *place).numpy() for place in places]  #? !low
    tensors = [_part(memory, *place) for place in places]
    addresses = [tensor.data_ptr() for tensor in tensors]
    directions = [view.direction for view in kernel.views]

    def run(arrays, scalars):  #? scalars
    def run(arrays):  #? !scalars
        scalars, results = _scalars(kernel, scalars), []  #? scalars
        results, named = [], _with_types(arrays)  #? !scalars&low
        named = _with_types(arrays)  #? scalars&low
        results = []  #? !scalars&!low
        with lock:
            for direction, array, place in zip(directions, arrays, staged, strict=True):
                if direction != "Out":
                    place[...] = _carried(array)  #? low
                    place[...] = array  #? !low
            memory.copy_(pinned, non_blocking=True)
            launch(tensors, addresses, scalars)  #? scalars
            launch(tensors, addresses)  #? !scalars
            pinned.copy_(memory)  # waits for the device
            for direction, array, place, tensor in zip(directions, arrays, staged, tensors, strict=True):  #? low
            for direction, array, place in zip(directions, arrays, staged, strict=True):  #? !low
                if array is None:
                    results.append(_typed(place.copy(), tensor, named))  #? low
                    results.append(place.copy())  #? !low
                elif direction != "In":
                    _carried(array)[...] = place  #? low
                    array[...] = place  #? !low
        return _unwrap(results)

    return run


def _pairs(kernel, arrays):
    """Positions of arrays that may not overlap, as one is written."""  #? !noalias
    """Positions of arrays that may not overlap, as one is written or the caller promises it."""  #? noalias
    given = [(place, view) for place, view in enumerate(kernel.views) if arrays[place] is not None]
    pairs = itertools.combinations(given, 2)
    return [(one, other) for (one, a), (other, b) in pairs if a.direction != "In" or b.direction != "In"]  #? !noalias
    kept = [(one, other, a, b) for (one, a), (other, b) in pairs]  #? noalias
    return [pair for *pair, a, b in kept if {a.direction, b.direction} != {"In"} or a.noalias or b.noalias]  #? noalias
'''

CARRIED = '''
def _carried(array):
    """An array or tensor of bfloat16 or float8 as integers of their width."""
    name = _CARRIERS.get(_dtype_name(array))
    return array if name is None else array.view(getattr(torch, name) if isinstance(array, torch.Tensor) else name)


def _with_types(arrays):
    """Whether the caller's arrays have types that NumPy was taught."""
    return any(array is not None and array.dtype.name in _CARRIERS for array in arrays)


def _typed(array, tensor, named):
    """bfloat16 and float8 are integers of their width unless NumPy was taught their names."""
    name = _dtype_name(tensor)
    return array.view(name) if named and name in _CARRIERS else array
'''

TO_DEVICE = '''
def _to_device(array, dtype, device):
    """While one part is on its way, the next is put into pinned memory."""
    tensor, begun = torch.empty(array.shape, dtype=getattr(torch, dtype), device=device), collections.deque()
    for part, target, slot in _turns(_plain(_carried(array)), _carried(tensor)):  #? low
    for part, target, slot in _turns(_plain(array), tensor):  #? !low
        if len(begun) == _SLOTS:
            begun.popleft()()
        slot.copy_(part)
        begun.append(_fence(target.copy_(slot, non_blocking=True)))
    return tensor
'''

TO_NUMPY = '''
def _to_numpy(tensor, array=None):
    """Into an array or a new one; while some parts are on their way to pinned memory, earlier ones are taken out."""
    array = _new_array(tensor) if array is None else array
    memory, begun = _plain(array), collections.deque()
    for part, source, slot in _turns(memory, tensor):
        if len(begun) == _SLOTS:
            _land(*begun.popleft())
        begun.append((part, slot.copy_(source, non_blocking=True), _fence(source)))
    while begun:
        _land(*begun.popleft())
    if memory.data_ptr() != array.ctypes.data:
        array[...] = memory.numpy()
    return array


def _land(part, slot, arrive):
    arrive()
    part.copy_(slot)
'''

NEW_ARRAY = '''
_KEPT = collections.defaultdict(list)  # by bytes, memory of results that are gone: its pages are cleared already
_KEPT_BYTES = 1 << 30  # in all; _KEPT.clear() gives them back


class _Memory:
    """Memory for the elements of a result; kept for another when no array uses it any more."""

    def __init__(self, size):
        try:
            self.memory = _KEPT[size].pop()
        except IndexError:
            self.memory = np.empty(size, np.uint8)
        self.kept, self.__array_interface__ = _KEPT, self.memory.__array_interface__

    def __del__(self):
        size, kept = self.memory.nbytes, self.kept
        if size + sum(size * len(each) for size, each in list(kept.items())) > _KEPT_BYTES:
            kept.clear()
        kept[size].append(self.memory)


def _new_array(tensor):
    """Large ones in memory that was used before, if there is any: to clear new pages takes as long as to copy."""
    if not 1 << 22 <= tensor.nbytes <= _KEPT_BYTES:
        return np.empty(tensor.shape, _dtype_name(tensor))
    return np.asarray(_Memory(tensor.nbytes)).view(_dtype_name(tensor)).reshape(tensor.shape)
'''

PLAIN = '''
def _plain(array):
    """The array's memory as a tensor, also if it is read-only; a copy where PyTorch knows no such tensor."""
    memory = {**array.__array_interface__, "data": (array.ctypes.data, False)}
    if array.flags.aligned:
        with contextlib.suppress(ValueError):  # other byte orders and some steps
            return torch.from_numpy(np.asarray(types.SimpleNamespace(__array_interface__=memory, array=array)))
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C"))
'''

TURNS = '''
_SLOT_BYTES = 1 << 25  # large parts keep PyTorch's threads busy
_SLOTS = 2  # one on the bus, one with the threads


def _turns(array, tensor):
    """Parts of an array and a tensor, and the slots of pinned memory that they pass through in turn."""
    taken = _SLOTS * _SLOT_BYTES if tensor.nbytes > _SLOT_BYTES else tensor.nbytes
    memory = torch.empty(taken, dtype=torch.uint8, pin_memory=tensor.is_cuda)
    for turn, (part, piece) in enumerate(_parts(array, tensor)):
        yield part, piece, _part(memory, turn % _SLOTS * _SLOT_BYTES, piece)


def _parts(array, tensor):
    """Both cut alike along their outermost axes into parts that fit a slot."""
    if tensor.nbytes <= _SLOT_BYTES:
        return [(array, tensor)]
    axis = next(axis for axis, size in enumerate(tensor.shape) if size > 1)
    rows = max(1, tensor.shape[axis] * _SLOT_BYTES // tensor.nbytes)
    pairs = zip(array.split(rows, axis), tensor.split(rows, axis), strict=True)
    return [part for pair in pairs for part in _parts(*pair)]
'''

FENCE = '''
def _fence(tensor):
    """What waits for all that has been begun on the tensor's device."""
    return torch.cuda.current_stream(tensor.device).record_event().synchronize if tensor.is_cuda else lambda: None
'''

PART = '''
def _part(memory, start, tensor):
    """Bytes of memory in the form of a tensor."""
    return memory[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
'''

BEFORE_KERNELS = (PACKED_CALL,)
AFTER_KERNELS = (
    UPLOAD,
    UPLOAD_OVERLAPPING,
    DOWNLOAD,
    TO_DEVICE,
    TO_NUMPY,
    NEW_ARRAY,
    PLAIN,
    TURNS,
    FENCE,
    PACKED,
    PART,
    CARRIED,
)
