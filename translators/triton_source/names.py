"""Names that the device functions and the host wrappers of one kernel share."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from intent.records import dataclass
from translators.algebra.polynomial import Symbol
from translators.logical.program import Kernel
from translators.logical.types import View
from translators.triton_source.launch import TILES, Argument, Pointer, ScalarArgument, ScratchPointer, Size, Stride

RESERVED_LOCALS = frozenset(
    {"tl", "triton", "torch", "np", "os", "sys", "INDEX", "libdevice", "language"}
    | set(keyword.kwlist)
    | set(keyword.softkwlist)
    | set(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
)
"""What no variable of a device function may be called."""

RESERVED = RESERVED_LOCALS | {
    "main", "self", "tensor", "grid", "num_warps", "num_stages", "num_ctas", "warmup", "maxnreg", "device", "stream",
    "kernel", "programs", TILES,
}  # fmt: skip
"""What no parameter of a device function or launcher may be called: Triton takes some of these as keywords."""


class Scope:
    """Hands out distinct identifiers: the wished name, or the name with a trailing underscore or number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(RESERVED)
        self.taken.update(taken)

    def name(self, wish: str) -> str:
        candidate = wish if wish.isidentifier() and wish.isascii() else "value"
        if candidate in self.taken:
            numbered = (f"{candidate}_{count}" for count in range(2, len(self.taken) + 3))
            candidate = next(name for name in numbered if name not in self.taken)
        self.taken.add(candidate)
        return candidate


@dataclass(frozen=True, slots=True)
class LaunchNames:
    """Parameter names of a kernel's device functions, and of the launcher's locals that hold the same values."""

    parameters: dict[str, str]  # view or scalar parameter of the author -> Python parameter name
    sizes: dict[str, str]  # symbol -> name
    pointers: dict[str, str]  # view -> pointer name
    strides: dict[tuple[str, int], str]  # (view, axis) -> name

    def axes(self) -> dict[str, tuple[str, str]]:
        """Name of a stride -> its view, and the axis as the name tells it."""
        return {
            name: (self.parameters[view], name.removeprefix(f"stride_{self.parameters[view]}_"))
            for (view, _), name in self.strides.items()
        }

    def argument(self, argument: Argument) -> str:
        match argument:
            case Pointer(view):
                return self.pointers[view]
            case Size(symbol):
                return self.sizes[symbol]
            case Stride(view, axis):
                return self.strides[view, axis]
            case ScalarArgument(name):
                return self.parameters[name]
            case ScratchPointer(name):
                return f"{name}_ptr"


def launch_names(kernel: Kernel) -> LaunchNames:
    scope = Scope([kernel.name])
    parameters = {parameter.name: scope.name(parameter.name) for parameter in kernel.parameters}
    symbols = [atom.name for view in kernel.views for extent in view.shape if isinstance(atom := extent.atom, Symbol)]
    sizes = {symbol: scope.name(symbol) for symbol in dict.fromkeys(symbols)}
    pointers = {view.name: scope.name(f"{parameters[view.name]}_ptr") for view in kernel.views}
    strides = {
        (view.name, axis): scope.name(f"stride_{parameters[view.name]}_{_axis_name(view, axis)}")
        for view in kernel.views
        for axis in range(view.rank)
    }
    return LaunchNames(parameters, sizes, pointers, strides)


def _axis_name(view: View, axis: int) -> str:
    """The axis' symbol in lower case if it is the only axis of the view with it, else the axis number."""
    atom = view.shape[axis].atom
    if isinstance(atom, Symbol) and view.shape.count(view.shape[axis]) == 1:
        return atom.name.lower()
    return str(axis)
