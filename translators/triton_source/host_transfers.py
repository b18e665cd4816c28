"""The part of a generated module that moves NumPy arrays to the device and back.

Copies between pageable memory and a device are slow. Arrays therefore pass through two slots of pinned memory, part
by part: while one part is on the bus, threads of PyTorch copy the next between its slot and the array. The threads, not
the bus, are what a call waits for, and half of what they do for a result in new memory is to clear its pages for the
system. So the memory of a result that is gone is kept for the next of its size. What moves is bits: PyTorch need not
know the types of NumPy, nor NumPy those of PyTorch. Arrays of few bytes are packed: a call is one copy up, a launch and
one copy down; what the call does is kept, as for repeated calls of device functions. PyTorch keeps pinned memory for
the next call, and does not hand it out while a copy that uses it is on its way; calls of several threads have slots of
their own, but no more than two move arrays at a time. Two slots of 32 MB in each direction took the least time of
eleven choices, from 8 of 1 MB to 4 of 32 MB, in every row of `benchmarks/host_calls.py` (docs/performance.md). Marked
lines are chosen as in `module_runtime`.
"""

from __future__ import annotations

HOST_CALL = '''
def _host_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _host_call(kernel, arrays, **sizes):  #? !scalars
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form, _ = _form(kernel, arrays, sizes, scalars)  #? planned
    form, _ = _form(kernel, arrays, sizes)  #? !planned
    run, pairs = _PACKED.get(form, (None, ()))
    if run and not any(np.may_share_memory(arrays[one], arrays[other]) for one, other in pairs):
        return run(arrays, scalars)  #? scalars
        return run(arrays)  #? !scalars
    plain = all(array is None or type(array) is np.ndarray for array in arrays)
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    scalars = _scalars(kernel, scalars)  #? scalars
    _require(kernel, sizes, scalars)  #? requirements&planned
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, scalars, sizes)  #? scalars
    launch = _run(kernel, tensors, sizes)  #? !scalars
    results = _hand_back(kernel, arrays, tensors, _to_numpy)
    if torch.cuda.is_available():
        torch.cuda.synchronize()  # the only one of the call
    aliases = any(view.alias for view in kernel.views)  # allocations are looked at in every call  #? alias
    few = plain and sum(tensor.nbytes for tensor in tensors) <= _PACKED_BYTES
    if form is not None and launch is not None and few and not aliases:  #? alias
    if form is not None and launch is not None and few:  #? !alias
        if len(_PACKED) >= 64:  # sizes may change without end
            _PACKED.clear()
        _PACKED[form] = _packed(kernel, arrays, tensors, launch)
    return results
'''

UPLOAD = '''
def _upload(kernel, arrays, sizes):
    """Device tensors for all arguments: only what the kernel reads is copied, and the same elements only once."""
    device, tensors = _device(), {}
    tensors = _upload_overlapping(kernel, arrays, device)  #? alias
    pairs = zip(kernel.views, arrays, strict=True)  #? same
    for view, array in sorted(pairs, key=lambda pair: pair[0].direction == "Out"):  # after those that are read  #? same
    for view, array in zip(kernel.views, arrays, strict=True):  #? !same
        if view.name in tensors:  #? alias
            continue  #? alias
        shared = view.direction == "In" or array is not None and kernel.overlap == "same"  #? same
        key = _elements(array) if shared else view.name  #? same
        key = _elements(array) if view.direction == "In" else view.name  #? !same
        if key not in tensors:
            read = view.direction != "Out"
            tensors[key] = _to_device(array, view.dtype, device) if read else _empty(view, sizes, device)
        tensors[view.name] = tensors[key]
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

HAND_BACK = '''
def _hand_back(kernel, arrays, sources, copy):
    """Copy what was written into the caller's arrays, or into new ones, which are returned."""
    triples = zip(kernel.views, arrays, sources, strict=True)
    written = [(view, array, copy(source, array)) for view, array, source in triples if view.direction != "In"]  #? low
    named = any(array is not None and array.dtype.name in _CARRIERS for array in arrays)  #? low
    return _unwrap([_typed(result, view.dtype, named) for view, array, result in written if array is None])  #? low
    written = [(array, copy(source, array)) for view, array, source in triples if view.direction != "In"]  #? !low
    return _unwrap([result for array, result in written if array is None])  #? !low
'''

PACKED_CALLS = """
_PACKED = {}  # by form: how to process small arrays like those of an earlier call, unless two of certain pairs overlap
_PACKED_BYTES = 1 << 18
"""

PACKED = '''
def _packed(kernel, arrays, tensors, launch):
    """How to process small arrays like these: as parts of one memory, which moves in one copy each way."""
    sizes = [-(-tensor.nbytes // 256) * 256 for tensor in tensors]
    pinned = torch.empty(sum(sizes), dtype=torch.uint8, pin_memory=tensors[0].is_cuda)
    memory, lock = torch.empty(sum(sizes), dtype=torch.uint8, device=tensors[0].device), threading.Lock()
    staged = [_carried(_part(*pair)).numpy() for pair in zip(pinned.split(sizes), tensors, strict=True)]  #? low
    staged = [_part(*pair).numpy() for pair in zip(pinned.split(sizes), tensors, strict=True)]  #? !low
    tensors = [_part(*pair) for pair in zip(memory.split(sizes), tensors, strict=True)]
    addresses = [tensor.data_ptr() for tensor in tensors]

    def copied(place, array):
        return place.copy() if array is None else np.copyto(_carried(array), place)  #? low
        return place.copy() if array is None else np.copyto(array, place)  #? !low

    def run(arrays, scalars):  #? scalars
    def run(arrays):  #? !scalars
        scalars = _scalars(kernel, scalars)  #? scalars
        with lock:
            for view, array, place in zip(kernel.views, arrays, staged, strict=True):
                if view.direction != "Out":
                    place[...] = _carried(array)  #? low
                    place[...] = array  #? !low
            memory.copy_(pinned, non_blocking=True)
            launch(tensors, addresses, scalars)  #? scalars
            launch(tensors, addresses)  #? !scalars
            pinned.copy_(memory)  # waits for the device
            return _hand_back(kernel, arrays, staged, copied)

    given = [(place, view) for place, view in enumerate(kernel.views) if arrays[place] is not None]
    pairs = itertools.combinations(given, 2)
    pairs = [(one, other) for (one, a), (other, b) in pairs if {a.direction, b.direction} != {"In"}]  #? !noalias
    kept = [(one, other, a, b) for (one, a), (other, b) in pairs]  #? noalias
    pairs = [pair for *pair, a, b in kept if {a.direction, b.direction} != {"In"} or a.noalias or b.noalias]  #? noalias
    return run, pairs
'''

CARRIED = '''
def _carried(array):
    """An array or tensor of bfloat16 or float8 as integers of their width."""
    name = _CARRIERS.get(_dtype_name(array))
    return array if name is None else array.view(getattr(torch, name) if isinstance(array, torch.Tensor) else name)
'''

TYPED = '''
def _typed(array, dtype, named):
    """bfloat16 and float8 are integers of their width unless NumPy was taught their names."""
    return array.view(dtype) if named and dtype in _CARRIERS else array
'''

TO_DEVICE = '''
def _to_device(array, dtype, device):
    """A tensor with an array's elements, for what comes later on the current stream."""
    tensor = torch.empty(array.shape, dtype=getattr(torch, dtype), device=device)
    _move(array, tensor, up=True)
    return tensor
'''

TO_NUMPY = '''
def _to_numpy(tensor, array=None):
    """A tensor's elements, in a given array or in a new one."""
    array = _new_array(tensor) if array is None else array
    _move(array, tensor, up=False)
    return array
'''

NEW_ARRAY = '''
_KEPT = collections.defaultdict(list)  # by bytes, memory of results that are gone: its pages are cleared already
_KEPT_BYTES = 1 << 30  # in all; _KEPT.clear() gives them back


def _new_array(tensor):
    """Large ones in memory that was used before, if there is any: to clear new pages takes as long as to copy."""
    size, dtype = tensor.nbytes, _CARRIERS.get(_dtype_name(tensor), _dtype_name(tensor))  #? low
    size, dtype = tensor.nbytes, _dtype_name(tensor)  #? !low
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
'''


MOVE = '''
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
'''

FENCE = '''
def _fence(tensor):
    """What waits for all that has been begun on the tensor's device."""
    return torch.cuda.current_stream(tensor.device).record_event().synchronize if tensor.is_cuda else lambda: None
'''

PART = '''
def _part(memory, tensor):
    """As many bytes of memory as a tensor has, in its form."""
    return memory[: tensor.nbytes].view(tensor.dtype).view(tensor.shape)
'''

BEFORE_KERNELS = (PACKED_CALLS,)
MOVES = (TO_DEVICE, TO_NUMPY, NEW_ARRAY, MOVE, FENCE, PART)  # know nothing of kernels: modules may share them
AFTER_KERNELS = (UPLOAD, UPLOAD_OVERLAPPING, HAND_BACK)
