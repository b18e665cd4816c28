"""The programs under `samples/npbench/`: found by importing the files, run as a caller would, and compared.

`samples/npbench/README.md` states what such a file holds. Nothing here knows a program by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType

import generated_modules
import numpy as np
import sample_files
import torch
from generated_modules import permuted_programs

import intent
from intent.host.interpreter import interpreted
from intent.records import dataclass
from intent.targets import ReferenceTarget

PROGRAMS = sample_files.SAMPLES / "npbench"

Case = Mapping[str, object]
Arguments = dict[str, object]
TOLERANCES = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5}


@dataclass(frozen=True, slots=True)
class Program:
    path: Path
    module: ModuleType

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple(self.module.CASES)

    @property
    def reduced(self) -> Case:
        """The suite's size S, or what of it the reference evaluator gets through in seconds."""
        return getattr(self.module, "REDUCED", None) or self.module.SIZES["S"]

    @property
    def slow(self) -> bool:
        """Even a small case takes the interpreter long."""
        return bool(getattr(self.module, "SLOW", False))

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.module.reference).parameters)


def programs() -> tuple[Program, ...]:
    return tuple(Program(path, sample_files.load(path)) for path in sorted(PROGRAMS.glob("*.py")))


def arguments(program: Program, case: Case, seed: int = 0) -> Arguments:
    """The program's arguments by name: arrays of the file's `inputs`, and numbers of it or of the case."""
    rng = np.random.default_rng([seed, *program.name.encode()])
    given = {**case, **program.module.inputs(rng, case)}
    return {name: given[name] for name in program.parameters}


# -------------------------------------------------------------------------------------------------------------- running
Results = list[np.ndarray]  # what was returned, then every array argument as the program left it


def by_statement(program: Program, values: Arguments) -> Results:
    with np.errstate(all="ignore"):
        return results(program.module.reference, values, np.array)


def by_reference(program: Program, values: Arguments) -> Results:
    """The file itself on the reference target, given tensors."""
    return results(_on_reference(program), values, _tensor)


def by_module(
    program: Program, values: Arguments, small: bool = False, permuted: bool = False, device: bool = False
) -> Results:
    """The generated module; its host arm takes NumPy arrays, its device arm tensors."""
    with permuted_programs() if permuted else nullcontext():
        return results(entry(program, device, small), values, on_device if device else np.array)


def entry(program: Program, device: bool, small: bool = False) -> Callable[..., object]:
    """The program as a function of its generated module, for NumPy arrays or for tensors."""
    generated = generated_modules.module(program.path, (), small)
    found: Callable[..., object] = getattr(generated, f"{program.name}_device" if device else program.name)
    return found


def copied(values: Arguments, make: Callable[[np.ndarray], object]) -> list[object]:
    """The arguments in order, every array made anew."""
    return [make(value) if isinstance(value, np.ndarray) else value for value in values.values()]


def on_device(array: np.ndarray) -> torch.Tensor:
    """A copy where kernels run: on the GPU, unless Triton interprets."""
    return _tensor(array) if interpreted() else _tensor(array).cuda()


@cache
def _on_reference(program: Program) -> Callable[..., object]:
    build = getattr(program.module, "build", None)
    if build is not None:
        return intent.build(build, ReferenceTarget())
    return intent.compile(getattr(program.module, program.name), ReferenceTarget()).run


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(array.copy())


def results(run: Callable[..., object], values: Arguments, make: Callable[[np.ndarray], object]) -> Results:
    """What a function returns and leaves, given arrays that are made anew."""
    copies = copied(values, make)
    returned = run(*copies)
    outputs = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    arrays = [copy for copy, value in zip(copies, values.values(), strict=True) if isinstance(value, np.ndarray)]
    return [_in_memory(each) for each in (*outputs, *arrays)]


def _in_memory(value: object) -> np.ndarray:
    """A number, or an array of NumPy, torch or CuPy, whose arrays refuse to be taken for NumPy's."""
    if isinstance(value, torch.Tensor):
        return value.cpu().numpy()
    return np.asarray(value.get() if type(value).__module__.partition(".")[0] == "cupy" else value)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------------------ comparing
def differences(program: Program, actual: Results, wanted: Results) -> list[str]:
    """One line for every array that is wrong."""
    assert len(actual) == len(wanted), f"{len(actual)} arrays, not {len(wanted)}"
    return [
        f"array {place}: {line}"
        for place, pair in enumerate(zip(actual, wanted, strict=True))
        if (line := wrong(program, *pair))
    ]


def wrong(program: Program, actual: np.ndarray, wanted: np.ndarray) -> str:
    """What is wrong with one array; empty if nothing is."""
    allowed = float(getattr(program.module, "TOLERANCE", TOLERANCES.get(wanted.dtype, 0.0)))
    found = sample_files.error(actual, wanted)
    return f"error {found:.3g}, allowed {allowed:.3g}" if found > allowed else ""
