"""Calls on device tensors, without doing again what an earlier call with arguments of the same form has done.

The first call of a form goes through the generated module, which checks everything, chooses and compiles a device
function, and launches it. What it launched is kept under the form: dtype, shape, strides, device and alignment of every
tensor, scalars that bound parallel work, and how tensors overlap, which is all that checks and choices depend on. Later
calls of the form look up the launch and repeat it with their own addresses and other scalars.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from intent.host.arguments import FLOATS, LIMITS, Values
from intent.host.interface import Interface, ModuleFunctions, Parameter
from intent.host.launching import Launch, direct_launch
from intent.host.loading import LoadedModule, Recorded
from intent.records import dataclass, field

MOST_FORMS: Final = 512  # for one kernel; a program that meets more begins anew
FormKey = tuple[object, ...]
Number = Callable[[Any], int | float]
Overlaps = tuple[int, ...]  # for each pair of views that overlap: its number, the distance of their first elements


@dataclass(frozen=True, slots=True)
class ScalarRule:
    """What a scalar must be for a launch to be repeated with it."""

    position: int
    types: frozenset[type]  # of Python and NumPy
    low: float
    high: float

    def admits(self, value: Any) -> bool:  # noqa: ANN401 - what the caller passes
        return type(value) in self.types and not (value < self.low or value > self.high)  # a NaN is neither


@dataclass(frozen=True, slots=True)
class Scratch:
    """Memory that a launch needs, with an empty tensor of its dtype and device."""

    place: int
    shape: tuple[int, ...]
    like: Any


@dataclass(frozen=True, slots=True)
class Plan:
    """A launch to repeat. `arguments` are the device function's, None at the places that change.

    `views` and `scalars` pair a position among the call's values with a place among the arguments; a scalar is passed
    as an int or a float. `scratch` has the places of memory that every launch has its own of.
    """

    launch: Launch
    arguments: tuple[Any, ...]
    views: tuple[tuple[int, int], ...]
    scalars: tuple[tuple[int, int, Number], ...]
    scratch: tuple[Scratch, ...]

    def repeat(self, values: Values, addresses: Sequence[int]) -> None:
        arguments = list(self.arguments)
        pointers: Sequence[Any] = addresses if self.launch.takes_addresses else values
        for position, place in self.views:
            arguments[place] = pointers[position]
        for position, place, number in self.scalars:
            arguments[place] = number(values[position])
        for scratch in self.scratch:
            arguments[scratch.place] = scratch.like.new_empty(scratch.shape)
        self.launch(arguments)


@dataclass(frozen=True, slots=True)
class Form:
    """Calls whose tensors have one form: the bytes that each view spans, and what was launched."""

    spans: tuple[int, ...]
    plans: dict[Overlaps, Plan] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Blank:
    """What is needed to allocate an output."""

    shape: tuple[int, ...]
    dtype: Any
    device: Any


class DeviceCalls:
    """The launches of one kernel, by the form of their arguments."""

    def __init__(self, interface: Interface, functions: ModuleFunctions, module: LoadedModule) -> None:
        import torch

        self._tensor, self._empty = torch.Tensor, torch.empty
        self._plain = frozenset((torch.Tensor, torch.nn.Parameter))  # what has no behaviour of its own
        self._module, self._functions, self._interface = module, functions, interface
        parameters = list(enumerate(interface.parameters))
        self._views = tuple(position for position, each in parameters if each.is_view)
        self._scalars = tuple(_rules(interface.parameters))
        self._planned = tuple(position for position, each in parameters if each.name in functions.planned)
        self._pairs = tuple(_conflicting(interface.parameters))
        self._grouped = any(each.alias for each in interface.parameters)  # allocations are looked at in every call
        self._forms: dict[FormKey, Form] = {}
        self._inputs = tuple(position for position, each in enumerate(interface.inputs) if each.is_view)
        self._blanks: dict[FormKey, tuple[Blank, ...]] = {}

    def launch(self, values: Values) -> bool:
        """Repeat the launch of an earlier call with values of the same form; False if there was none."""
        addresses = [0] * len(values)
        key = self._key(values, addresses)
        form = self._forms.get(key) if key is not None else None
        if form is None:
            return False
        for rule in self._scalars:
            if not rule.admits(values[rule.position]):
                return False
        plan = form.plans.get(self._overlaps(addresses, form.spans))
        if plan is None:
            return False
        plan.repeat(values, addresses)
        return True

    def launch_first(self, values: Values) -> None:
        """Call the module's function, and keep what it launched for the next call of the form."""
        launches = self._module.recorded(self._functions.device_out, values)
        addresses = [0] * len(values)
        key = self._key(values, addresses)
        if key is None or self._grouped or len(launches) != 1 or os.environ.get("INTENTC_POISON") == "1":
            return
        plan = self._plan(launches[0], values)
        if plan is not None:
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            form = self._forms.setdefault(key, Form(tuple(_span(value) for value in values)))
            form.plans[self._overlaps(addresses, form.spans)] = plan

    # ---------------------------------------------------------------------------------------------------------- outputs
    def outputs(self, inputs: Values, sizes: Mapping[str, int]) -> list[Any] | None:
        """Outputs for inputs of a form that was checked before; None for others."""
        blanks = self._blanks.get(self._input_key(inputs, sizes))
        if blanks is None:
            return None
        return [self._empty(blank.shape, dtype=blank.dtype, device=blank.device) for blank in blanks]

    def keep_outputs(self, inputs: Values, sizes: Mapping[str, int], outputs: Sequence[Any]) -> None:
        """Remember what outputs such inputs have; the inputs were checked."""
        key = self._input_key(inputs, sizes)
        if key:
            if len(self._blanks) >= MOST_FORMS:
                self._blanks.clear()
            self._blanks[key] = tuple(Blank(tuple(each.shape), each.dtype, each.device) for each in outputs)

    def _input_key(self, inputs: Values, sizes: Mapping[str, int]) -> FormKey:
        """Empty unless there are arrays, and all of them plain tensors."""
        key: list[object] = []
        for position in self._inputs:
            tensor: Any = inputs[position]
            if type(tensor) not in self._plain:
                return ()
            key += (tensor.dtype, tensor.shape, tensor.stride(), tensor.device)
        return (*key, *map(sizes.get, self._interface.output_symbols)) if key else ()

    # ------------------------------------------------------------------------------------------------------------ forms
    def _key(self, values: Values, addresses: list[int]) -> FormKey | None:
        """What checks and choices depend on; None unless all arrays are plain tensors. Fills in the addresses."""
        key: list[object] = []
        for position in self._views:
            tensor: Any = values[position]
            if type(tensor) not in self._plain:
                return None
            address = addresses[position] = tensor.data_ptr()
            key += (tensor.dtype, tensor.shape, tensor.stride(), tensor.device, address & 15)
        for position in self._planned:
            if type(values[position]) not in (int, float, bool):
                return None
            key.append(values[position])
        return tuple(key)

    def _overlaps(self, addresses: Sequence[int], spans: Sequence[int]) -> Overlaps:
        found: Overlaps = ()
        for number, (first, second) in enumerate(self._pairs):
            distance = addresses[second] - addresses[first]
            if -spans[second] < distance < spans[first]:
                found += (number, distance)
        return found

    def _plan(self, launched: Recorded, values: Values) -> Plan | None:
        """None if what was launched cannot be repeated, such as on a copy of an argument."""
        names = list(launched.kernel.arg_names)
        arguments: list[Any] = [*launched.arguments, *map(launched.options.get, names[len(launched.arguments) :])]
        views: list[tuple[int, int]] = []
        scalars: list[tuple[int, int, Number]] = []
        for position, parameter in enumerate(self._interface.parameters):
            name = self._functions.arguments[parameter.name]
            if name not in names:
                continue
            place = names.index(name)
            if parameter.is_view and arguments[place].data_ptr() != values[position].data_ptr():  # type: ignore[attr-defined]
                return None
            if parameter.is_view:
                views.append((position, place))
            else:
                scalars.append((position, place, float if parameter.dtype.startswith(FLOATS) else int))
        launch = direct_launch(launched, arguments)
        tensors: list[tuple[Any, Any]] = [(arguments[place], values[position]) for position, place in views]
        if not launch.takes_addresses and any(passed.dtype != given.dtype for passed, given in tensors):
            return None  # bits were passed
        for place in [place for _, place in views] + [place for _, place, _ in scalars]:
            arguments[place] = None  # a tensor kept here would never be freed
        scratch = tuple(self._scratch(arguments))
        return Plan(launch, tuple(arguments), tuple(views), tuple(scalars), scratch)

    def _scratch(self, arguments: list[Any]) -> Iterator[Scratch]:
        """Take the tensors that are left out of the arguments."""
        for place, value in enumerate(arguments):
            if isinstance(value, self._tensor):
                arguments[place] = None
                yield Scratch(place, tuple(value.shape), value.new_empty(0))


def _rules(parameters: Sequence[Parameter]) -> Iterator[ScalarRule]:
    import numpy as np

    integers = frozenset((int, *(np.dtype(code).type for code in "bhilqBHILQ")))
    reals = integers | {float, np.float16, np.float32, np.float64}
    for position, parameter in enumerate(parameters):
        if parameter.is_view:
            continue
        if parameter.dtype == "bool":
            yield ScalarRule(position, frozenset((bool, np.bool_)), 0, 1)
        elif parameter.dtype in LIMITS:
            yield ScalarRule(position, integers, *LIMITS[parameter.dtype])
        else:
            yield ScalarRule(position, reals, float("-inf"), float("inf"))


def _conflicting(parameters: Sequence[Parameter]) -> Iterator[tuple[int, int]]:
    """Pairs of views whose overlap matters to the kernel."""
    for (first, one), (second, other) in combinations(enumerate(parameters), 2):
        matters = one.writable or other.writable or one.noalias or other.noalias
        if one.is_view and other.is_view and matters:
            yield first, second


def _span(value: Any) -> int:  # noqa: ANN401 - a tensor or a scalar
    """Bytes from the first element of a tensor to the end of its last."""
    if not hasattr(value, "data_ptr") or not value.numel():
        return 0
    last = sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
    return int((last + 1) * value.element_size())
