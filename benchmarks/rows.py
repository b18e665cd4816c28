"""What a row of the benchmark is: sizes, buffers, a reference, implementations, and the time to reach.

Implementations (peers) are the generated modules, torch's own operators, the vendor's library through torch, and the
kernels written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch

ROOT = Path(__file__).resolve().parent.parent

Sizes = Mapping[str, int]
Kind = Literal["generated", "relaxed", "eager", "compiled", "library", "expert"]
Method = Literal["graph", "do_bench"]


class Source:
    """Where a row's arrays come from: random values, the same in every run, on one device."""

    def __init__(self, device: str) -> None:
        self.device = device
        self._generator = torch.Generator(device).manual_seed(1)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, dtype=dtype, device=self.device, generator=self._generator)

    def uniform(self, *shape: int) -> torch.Tensor:
        return torch.rand(shape, device=self.device, generator=self._generator)

    def below(self, limit: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.randint(limit, shape, device=self.device, generator=self._generator, dtype=dtype)

    def empty(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)


@dataclass(frozen=True, slots=True)
class Data:
    """One set of buffers; inputs and outputs are in the order of the kernel's declaration.

    Inputs that are `updated` are results as well, before the outputs.
    """

    inputs: tuple[Any, ...]
    outputs: tuple[torch.Tensor, ...]
    scratch: tuple[Any, ...] = ()
    updated: tuple[torch.Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """An implementation. Its results are what `call` returns, or the arrays it was given to write if that is None."""

    kind: Kind
    call: Callable[[ModuleType, Data], object]
    label: str = ""
    graph: bool = True  # whether a CUDA graph can hold the call
    in_interpreter: bool = True  # whether it gives right results without a device
    source: Callable[..., object] | None = None  # the function of the inputs that torch.compile is to improve
    kernels: tuple[str, ...] = ()  # of the generated module

    @property
    def name(self) -> str:
        return f"{self.kind} {self.label}".rstrip()


# The error of results, given the workload's file, one set of buffers and the results; `strict` holds a generated module
# to the language's definition where libraries may answer differently.
Check = Callable[[ModuleType, Data, Sequence[torch.Tensor], bool], float]


@dataclass(frozen=True, slots=True)
class Row:
    """`sizes` is what is measured, `small` what a trial without a device takes; `data` reads both by name.

    `goal` is in milliseconds, None where the row's other implementations are all that is to be reached. `check`
    replaces the comparison with what `reference` gives; the file of the kernels is the first argument of both.
    """

    name: str
    workload: str
    shape: str
    sizes: Sizes
    small: Sizes
    data: Callable[[Sizes, Source], Data]
    peers: tuple[Peer, ...]
    goal: float | None
    folder: str = "benchmarks/workloads"
    method: Method = "graph"
    operations: Callable[[Sizes], int] = lambda sizes: 0
    unread: Callable[[Data], int] = lambda data: 0  # bytes of the inputs that are not needed
    check: Check | None = None
    reference: Callable[[ModuleType, tuple[Any, ...]], Any] = lambda workload, inputs: workload.reference(*inputs)

    @property
    def file(self) -> Path:
        """Where its kernels are."""
        return ROOT / self.folder / f"{self.workload}.py"

    def traffic(self, data: Data) -> int:
        """Bytes if what is needed of the inputs is read once, and every output written once."""
        tensors = [each for each in (*data.inputs, *data.updated, *data.outputs) if isinstance(each, torch.Tensor)]
        return sum(each.nbytes for each in tensors) - self.unread(data)


# ------------------------------------------------------------------------------------------------------- kinds of peers
def generated(kernel: str) -> Peer:
    """The device function of one kernel."""

    def call(module: ModuleType, data: Data) -> None:
        getattr(module, f"{kernel}_device_out")(*data.inputs, *data.outputs)

    return Peer("generated", call, kernels=(kernel,))


def relaxed(kernel: str) -> Peer:
    """The same of the module that was compiled with relaxed normalisation."""
    return replace(generated(kernel), kind="relaxed")


def generated_pair(first: str, second: str) -> Peer:
    """Two kernels: one writes a partial result for each group, the other merges these."""

    def call(module: ModuleType, data: Data) -> None:
        getattr(module, f"{first}_device_out")(*data.inputs, data.scratch[0])
        getattr(module, f"{second}_device_out")(data.scratch[0], *data.outputs)

    return Peer("generated", call, "in two kernels", kernels=(first, second))


def eager(function: Callable[..., object], compiled: Callable[..., object] | None = None, graph: bool = True) -> Peer:
    """Torch's operators one after the other; another form of them may suit torch.compile better."""
    source = compiled or function
    return Peer("eager", lambda module, data: function(*data.inputs), graph=graph, source=source)


def compiled(peer: Peer) -> Peer:
    """What torch.compile makes of an eager peer."""
    assert peer.source is not None
    function = torch.compile(peer.source, dynamic=False)
    return Peer("compiled", lambda module, data: function(*data.inputs), graph=peer.graph)


def library(label: str, call: Callable[[Data], object], in_interpreter: bool = True) -> Peer:
    return Peer("library", lambda module, data: call(data), label, in_interpreter=in_interpreter)


def by_hand(call: Callable[[Data], object], in_interpreter: bool = True) -> Peer:
    return Peer("expert", lambda module, data: call(data), in_interpreter=in_interpreter)
