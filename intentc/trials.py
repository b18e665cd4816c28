"""What `run` and `verify` share: a file's kernels compiled and imported, and one comparison with the reference."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from intent.records import dataclass
from intentc.differential import Difference, by_reference, differences, load_module
from intentc.failure import UsageError
from intentc.inputs import read_inputs
from intentc.kernel_inputs import Arguments, candidates, default_sizes, make_inputs, symbols
from intentc.reporting import report
from intentc.settings import parse_value
from translators.logical.program import Kernel, ScalarParameter
from translators.logical.reference_execution import NotEvaluated
from translators.logical.reference_numerics import IllegalInput
from translators.options import Options
from translators.pipeline import Compilation, compile_text, rejects
from translators.triton_source.launch import KernelCode
from translators.triton_source.module_names import KernelNames
from translators.triton_source.module_selfcheck import meets_requirements

Target = Annotated[str, typer.Argument(metavar="FILE[:KERNEL]", help="A kernel file, or one kernel of it.")]
Shapes = Annotated[
    list[str] | None, typer.Option("--shape", metavar="SYMBOL=SIZE,...", help="Sizes of symbols (repeatable).")
]
Scalars = Annotated[
    list[str] | None, typer.Option("--scalar", metavar="NAME=VALUE", help="A runtime scalar's value (repeatable).")
]
Cpu = Annotated[bool, typer.Option("--cpu", help="Run in Triton's CPU interpreter.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random inputs.")]

MOST_TRIED = 40  # sizes that the reference is asked about


@dataclass(frozen=True, slots=True)
class Trial:
    """A kernel with its imported host function."""

    code: KernelCode
    function: Callable[..., None]
    finite: Sequence[str] = ()  # the inputs that the file names as such

    @property
    def kernel(self) -> Kernel:
        return self.code.kernel

    def sizes(self, given: Mapping[str, int], scalars: Mapping[str, bool | int | float], seed: int) -> dict[str, int]:
        """The first candidate sizes, with some of them given, that the plan and the reference accept."""
        wanted = {name: given[name] for name in symbols(self.kernel) if name in given}
        tried: list[dict[str, int]] = []
        for candidate in candidates(self.kernel):
            sizes = candidate | wanted
            if sizes not in tried and meets_requirements(self.code, sizes):
                tried.append(sizes)
                if self._is_legal(make_inputs(self.kernel, sizes, seed, scalars), sizes):
                    return sizes
            if len(tried) == MOST_TRIED:
                break
        return default_sizes(self.kernel) | wanted

    def _is_legal(self, arguments: Arguments, sizes: Mapping[str, int]) -> bool:
        try:
            by_reference(self.kernel, arguments, sizes)
        except (IllegalInput, NotEvaluated):
            return False
        return True

    def compare(
        self, arguments: Arguments, sizes: Mapping[str, int], around: AbstractContextManager[None] | None = None
    ) -> list[Difference] | str:
        """The differences, or why these arguments cannot be tried."""
        try:
            with around or nullcontext(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the interpreter computes NaN and infinities in NumPy
                return differences(self.kernel, self.function, arguments, sizes)
        except IllegalInput as illegal:
            return f"illegal input: {illegal}"
        except NotEvaluated as missing:
            return f"the reference cannot evaluate this: {missing}"


def trials(target: str, options: Options, cpu: bool) -> list[Trial]:
    """Compile the file and import the module; exits with status 1 if the file is rejected."""
    compilation, chosen = compiled(target, options)
    choose_device(cpu)
    assert compilation.source is not None and compilation.program is not None
    module = load_module(compilation.source)
    finite = _finite("\n".join(compilation.program.lines))
    return [Trial(code, getattr(module, names.public.host_out or ""), finite) for code, names in chosen]


def _finite(text: str) -> Sequence[str]:
    """The names in the file's `FINITE`: inputs that hold no NaN or infinity, because the kernels do not serve them."""
    for statement in ast.parse(text).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="FINITE")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                return [str(each.value) for each in items if isinstance(each, ast.Constant)]
            case _:
                pass
    return ()


def compiled(target: str, options: Options) -> tuple[Compilation, list[tuple[KernelCode, KernelNames]]]:
    """The compilation of a file and those of its kernels that are asked for; exits with status 1 if it is rejected."""
    path, wanted = split_target(target)
    inputs, unreadable = read_inputs([path], "stdin.py")
    compilations = [compile_text(each.text, each.path, options) for each in inputs]
    found = [*unreadable, *(diagnostic for each in compilations for diagnostic in each.diagnostics)]
    if rejects(found):
        report([diagnostic for diagnostic in found if diagnostic.severity != "note"], inputs, "full")
        raise typer.Exit(1)
    pairs = list(zip(compilations[0].codes, compilations[0].names, strict=True))
    known = [code.kernel.name for code, _ in pairs]
    if wanted is not None and wanted not in known:
        raise UsageError(f"there is no kernel {wanted}; the file has {', '.join(known) or 'none'}")
    return compilations[0], [pair for pair in pairs if wanted in (None, pair[0].kernel.name)]


def split_target(target: str) -> tuple[str, str | None]:
    """`file.py:kernel` as a path and a name."""
    path, colon, name = target.rpartition(":")
    return (path, name) if colon and name.isidentifier() and not Path(target).exists() else (target, None)


def choose_device(cpu: bool) -> None:
    """Triton chooses between interpreter and GPU when a module is imported."""
    if cpu:
        os.environ["TRITON_INTERPRET"] = "1"
    elif os.environ.get("TRITON_INTERPRET") != "1":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("no GPU was found: use --cpu to run in Triton's interpreter")


def parse_shapes(arguments: Sequence[str], known: Sequence[Trial]) -> dict[str, int]:
    """`["M=4,N=8"]` as sizes by symbol."""
    sizes: dict[str, int] = {}
    names = {symbol for trial in known for symbol in symbols(trial.kernel)}
    for name, value in _pairs(arguments, "--shape"):
        if name not in names:
            raise UsageError(f"--shape: no array has the size {name}; the sizes are {', '.join(sorted(names))}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise UsageError(f"--shape: {name} must be a nonnegative integer, not {value}")
        sizes[name] = value
    return sizes


def parse_scalars(arguments: Sequence[str], known: Sequence[Trial]) -> dict[str, bool | int | float]:
    """`["scale=0.5"]` as values by name; an integer given for a float is one."""
    parameters = {scalar.name: scalar for trial in known for scalar in trial.kernel.scalars}
    return {name: _scalar(name, value, parameters) for name, value in _pairs(arguments, "--scalar")}


def _scalar(name: str, value: object, parameters: Mapping[str, ScalarParameter]) -> bool | int | float:
    if name not in parameters:
        raise UsageError(
            f"--scalar: there is no scalar {name}; the scalars are {', '.join(sorted(parameters)) or 'none'}"
        )
    dtype = parameters[name].dtype
    if isinstance(value, bool) and dtype.kind == "bool":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and dtype.kind != "bool":
        return float(value) if dtype.is_float else value
    if isinstance(value, float) and dtype.is_float:
        return value
    raise UsageError(f"--scalar: {name} is a {dtype.name}, which {value} is not")


def _pairs(arguments: Sequence[str], option: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for part in (part.strip() for argument in arguments for part in argument.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not name.strip().isidentifier():
            raise UsageError(f"{option} takes NAME=VALUE, not {part!r}")
        pairs.append((name.strip(), parse_value(value.strip())))
    return pairs
