"""What `python module.py` runs. Marked lines are chosen as in `module_runtime`."""

from __future__ import annotations

SELF_CHECK = '''
def _self_check():
    """Small random inputs, poisoned outputs, every case twice; the number of cases that went wrong."""
    global _POISON
    _POISON = True
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
