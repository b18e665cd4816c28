"""The part of a generated module that moves NumPy arrays to the device and back.

Copies between pageable memory and a device are slow. Arrays therefore pass through a few slots of pinned memory, part
by part: while one part is on the bus, threads of PyTorch copy the next between its slot and the array. Arrays of few
bytes are packed, so that a call is one copy up, a launch and one copy down; what the call does is kept, as for repeated
calls of device functions. Two slots of 32 MB in each direction took the least time of eleven choices, from 8 of 1 MB to
4 of 32 MB, in every row of `benchmarks/host_calls.py` (docs/performance.md). Marked lines are chosen as in
`module_runtime`.
"""

from __future__ import annotations

HOST_CALL = '''
def _host_call(kernel, arrays, scalars=(), **sizes):  #? scalars
def _host_call(kernel, arrays, **sizes):  #? !scalars
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form = _numpy_form(kernel, arrays, sizes, scalars)  #? planned
    form = _numpy_form(kernel, arrays, sizes)  #? !planned
    packed = _PACKED.get(form)
    if packed is not None and not _may_overlap(packed, arrays):
        return _run_packed(kernel, packed, arrays, scalars)  #? scalars
        return _run_packed(kernel, packed, arrays)  #? !scalars
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    scalars = _scalars(kernel, scalars)  #? scalars
    _require(kernel, sizes, scalars)  #? requirements&planned
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, scalars, sizes)  #? scalars
    launch = _run(kernel, tensors, sizes)  #? !scalars
    results = _download(kernel, arrays, tensors)
    if form is not None and launch is not None and sum(tensor.nbytes for tensor in tensors) <= _PACKED_BYTES:
        _remember_packed(form, kernel, arrays, tensors, launch)
    return results
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

TO_DEVICE = """
def _to_device(array, dtype, device):
    tensor = torch.empty(array.shape, dtype=getattr(torch, dtype), device=device)
    _send(_carried(array), _carried(tensor))  #? low
    _send(array, tensor)  #? !low
    return tensor
"""

DOWNLOAD = '''
def _download(kernel, arrays, tensors):
    """Copy what was written into the caller's arrays, or into new ones; the only synchronise of the call."""
    named = _with_types(arrays)  #? low
    results = []
    for view, array, tensor in zip(kernel.views, arrays, tensors, strict=True):
        if array is None:
            results.append(_to_numpy(tensor, named))  #? low
            results.append(_to_numpy(tensor))  #? !low
        elif view.direction != "In":
            _receive(_carried(tensor), _carried(array))  #? low
            _receive(tensor, array)  #? !low
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return _unwrap(results)
'''

TO_NUMPY = '''
def _to_numpy(tensor, named):  #? low
def _to_numpy(tensor):  #? !low
    """A new array; bfloat16 and float8 are integers of their width unless NumPy was taught their names."""  #? low
    name, tensor = _dtype_name(tensor), _carried(tensor)  #? low
    array = np.empty(tensor.shape, _dtype_name(tensor))
    _receive(tensor, array)
    return array.view(name) if named and name in _CARRIERS else array  #? low
    return array  #? !low
'''

CARRIED = '''
def _carried(array):
    """An array or tensor of bfloat16 or float8 as integers of their width."""
    name = _CARRIERS.get(_dtype_name(array))
    return array if name is None else array.view(getattr(torch, name) if isinstance(array, torch.Tensor) else name)


def _with_types(arrays):
    """Whether the caller's arrays have types that NumPy was taught."""
    return any(array is not None and array.dtype.name in _CARRIERS for array in arrays)
'''

PACKED = '''
_PACKED = {}  # by form
_PACKED_BYTES = 1 << 18


class _Packed(NamedTuple):
    """How to process arrays of a form whose bytes are few: they share memory, and move in one copy each way."""

    launch: Callable  # takes tensors and scalars
    tensors: list
    read: list  # positions of arrays, and where in pinned memory they are put for the copy to the device
    written: list  # positions of arrays, and where in pinned memory the copy from the device puts them
    up: tuple  # to where, and from where
    down: tuple
    typed: bool  # results have types that NumPy was taught  #? low
    lock: threading.Lock


def _numpy_form(kernel, arrays, sizes, scalars):  #? planned
def _numpy_form(kernel, arrays, sizes):  #? !planned
    """What checks, plans and layouts depend on, apart from overlaps; None where they are to be made in every call."""
    if any(type(size) is not int for size in sizes.values()):  #? outonly
        return None  #? outonly
    form = [kernel.name, *sizes.items()]  #? outonly
    form = [kernel.name]  #? !outonly
    form += [scalars[place] for place in kernel.planned]  #? planned
    for array in arrays:
        if type(array) is np.ndarray:
            form += (array.dtype, array.shape, array.strides, array.flags.writeable)
        elif array is None:
            form.append(None)
        else:
            return None
    return None if os.getenv("INTENTC_POISON") == "1" else tuple(form)


def _remember_packed(form, kernel, arrays, tensors, launch):
    """Lay out memory for later calls: arrays that are read, that are read and written, that are written."""
    global _PACKED
    if any(view.alias for view in kernel.views):  # allocations are looked at in every call  #? alias
        return  #? alias
    starts, ends, end = {}, {}, 0
    for direction in ("In", "InOut", "Out"):
        for place, tensor in enumerate(tensors):
            if kernel.views[place].direction == direction:
                starts[place] = end
                end += -(-tensor.nbytes // 256) * 256
        ends[direction] = end
    memory = torch.empty(end, dtype=torch.uint8, device=tensors[0].device)
    pinned = torch.empty(end, dtype=torch.uint8, pin_memory=memory.is_cuda)
    staged = [(place, _part(pinned, starts[place], tensor)) for place, tensor in enumerate(tensors)]
    staged = [(place, _carried(tensor).numpy()) for place, tensor in staged]  #? low
    staged = [(place, tensor.numpy()) for place, tensor in staged]  #? !low
    tensors = [_part(memory, starts[place], tensor) for place, tensor in enumerate(tensors)]
    read = [pair for pair in staged if kernel.views[pair[0]].direction != "Out"]
    written = [pair for pair in staged if kernel.views[pair[0]].direction != "In"]
    up, down = (each[: ends["InOut"]] for each in (memory, pinned)), (each[ends["In"] :] for each in (pinned, memory))
    if len(_PACKED) >= 64:  # sizes may change without end
        _PACKED = {}  # and other threads may be reading
    typed, lock = _with_types(arrays), threading.Lock()  #? low
    _PACKED[form] = _Packed(launch, tensors, read, written, tuple(up), tuple(down), typed, lock)  #? low
    _PACKED[form] = _Packed(launch, tensors, read, written, tuple(up), tuple(down), threading.Lock())  #? !low


def _may_overlap(packed, arrays):
    """Whether memory that is written may be another array's."""
    given = [(place, array) for place, array in enumerate(arrays) if array is not None]
    written = [(place, arrays[place]) for place, _ in packed.written if arrays[place] is not None]
    return any(one != two and np.may_share_memory(a, b) for one, a in written for two, b in given)


def _run_packed(kernel, packed, arrays, scalars):  #? scalars
def _run_packed(kernel, packed, arrays):  #? !scalars
    """Copy up, launch what the earlier call launched, copy down: its checks hold for these arrays as well."""
    scalars = _scalars(kernel, scalars)  #? scalars
    results = []
    with packed.lock, torch.cuda.device_of(packed.tensors[0]):
        for place, staged in packed.read:
            staged[...] = _carried(arrays[place])  #? low
            staged[...] = arrays[place]  #? !low
        packed.up[0].copy_(packed.up[1], non_blocking=True)
        packed.launch(packed.tensors, scalars)  #? scalars
        packed.launch(packed.tensors)  #? !scalars
        packed.down[0].copy_(packed.down[1], non_blocking=True)
        if packed.tensors[0].is_cuda:
            torch.cuda.synchronize()
        for place, staged in packed.written:
            if arrays[place] is not None:
                _carried(arrays[place])[...] = staged  #? low
                arrays[place][...] = staged  #? !low
                continue  #? low
            name = _dtype_name(packed.tensors[place])  #? low
            results.append(staged.copy().view(name) if packed.typed and name in _CARRIERS else staged.copy())  #? low
            else:  #? !low
                results.append(staged.copy())  #? !low
    return _unwrap(results)
'''

PART = '''
def _part(memory, start, tensor):
    """Bytes of memory in the form of a tensor."""
    return memory[start : start + tensor.nbytes].view(tensor.dtype).view(tensor.shape)
'''

STAGING = '''
_SLOT_BYTES = 1 << 25  # large parts keep PyTorch's threads busy
_SLOTS = 2  # in each direction: one on the bus, one with the threads


class _Ring:
    """Pinned memory that the copies in one direction pass through, slot after slot and one array at a time."""

    def __init__(self):
        self.lock, self.slots = threading.Lock(), collections.deque()

    def slot(self, tensor):
        """A slot in the form of a tensor, when what the oldest was used for is finished; and all of its memory."""
        memory, finish = self.slots.popleft() if len(self.slots) == _SLOTS else (None, None)
        if finish is not None:
            finish()
        if memory is None or memory.nbytes < tensor.nbytes:
            memory = torch.empty(tensor.nbytes, dtype=torch.uint8, pin_memory=tensor.is_cuda)
        return _part(memory, 0, tensor), memory

    def finish(self):
        for _ in range(len(self.slots)):
            memory, finish = self.slots.popleft()
            if finish is not None:
                finish()
            self.slots.append((memory, None))


_UP = _Ring()
_DOWN = _Ring()


def _send(array, tensor):
    """Copy an array to the device, part by part: while one is on its way, the next is put into pinned memory."""
    with _UP.lock:
        for part, target in _parts(_wrapped(array), tensor):
            slot, memory = _UP.slot(target)
            _copy_on_host(slot, part)
            target.copy_(slot, non_blocking=True)
            _UP.slots.append((memory, _fence(target)))


def _receive(tensor, array):
    """Copy a tensor into an array of the host: while parts of it are on their way, earlier ones are taken out."""
    with _DOWN.lock:
        try:
            for part, source in _parts(_wrapped(array), tensor):
                slot, memory = _DOWN.slot(source)
                slot.copy_(source, non_blocking=True)
                _DOWN.slots.append((memory, functools.partial(_land, _fence(source), part, slot)))
        finally:
            _DOWN.finish()


def _land(arrive, part, slot):
    arrive()
    _copy_on_host(part, slot)


def _parts(array, tensor):
    """An array and a tensor, cut alike along their outermost axes into parts that fit a slot."""
    if tensor.nbytes <= _SLOT_BYTES:
        if tensor.numel():
            yield array, tensor
        return
    rows = max(1, len(tensor) * _SLOT_BYTES // tensor.nbytes)
    for start in range(0, len(tensor), rows):
        pair = array[start : start + rows], tensor[start : start + rows]
        yield from _parts(*pair) if rows > 1 else _parts(pair[0][0], pair[1][0])


def _wrapped(array):
    """The array's memory as a tensor, also if it is read-only; the array itself where PyTorch knows no such tensor."""
    memory = array.__array_interface__
    strange = any(step < 0 or step % array.itemsize for step in memory["strides"] or ())
    if strange or not array.flags.aligned or not array.dtype.isnative:
        return array
    memory = {**memory, "data": (memory["data"][0], False)}
    return torch.from_numpy(np.asarray(types.SimpleNamespace(__array_interface__=memory, array=array)))


def _copy_on_host(target, source):
    """PyTorch copies with several threads."""
    if isinstance(target, torch.Tensor) and isinstance(source, torch.Tensor):
        target.copy_(source)
    else:
        np.copyto(np.asarray(target), np.asarray(source))


def _fence(tensor):
    """A function that waits for what has been started on the tensor's device so far."""
    if not tensor.is_cuda:
        return lambda: None
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream(tensor.device))
    return event.synchronize
'''

AFTER_KERNELS = (UPLOAD, TO_DEVICE, DOWNLOAD, TO_NUMPY, CARRIED, PACKED, PART, STAGING)
