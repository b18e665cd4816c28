"""Lifting of many files: what they are, and their lifts in several processes.

What comes of one file is text and plain data, so that a process can send it to another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from intent.records import dataclass
from intentc import lift_report
from intentc.inputs import Input, read_inputs
from intentc.lift_check import checked
from translators.diagnostics import Diagnostic
from translators.lifting.files import LiftedFile, Wanted, lift_text
from translators.triton_source.read.source import Package

if TYPE_CHECKING:
    from intentc.lift_verification import Verification

Verified = Mapping[str, "Verification"]
_KERNELS: Final = (b".jit", b"pointwise_dynamic")  # one of them is in every file of kernels


@dataclass(frozen=True, slots=True)
class Sources:
    """The files to lift; `places` are where their results go below an output directory. `many`: the result is a
    directory whatever their number is."""

    inputs: tuple[Input, ...]
    places: tuple[Path, ...]
    diagnostics: tuple[Diagnostic, ...]
    many: bool


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for of every file."""

    wanted: Wanted
    verify: bool
    page: bool = False


@dataclass(frozen=True, slots=True)
class FileLift:
    """What came of one file. `source` is None if nothing is lifted; `said` are the lines of a short report; `lifted`
    says of each kernel whether it is, `holds` whether every verification agreed; `page` shows it, if that is wanted."""

    diagnostics: tuple[Diagnostic, ...]
    source: str | None
    text: str
    data: dict[str, object]
    said: tuple[str, ...]
    lifted: tuple[bool, ...]
    holds: bool
    page: str = ""


def read_sources(arguments: Sequence[str], stdin_filename: str) -> Sources:
    """The files that are named, and those below the directories that are named which may have kernels."""
    named = [each for argument in arguments for each in _files(argument)]
    inputs, diagnostics = read_inputs([path for path, _ in named], stdin_filename)
    many = len(arguments) != 1 or Path(arguments[0]).is_dir()
    places = [place for _, place in named] if len(inputs) == len(named) else []
    return Sources(tuple(inputs), tuple(places), tuple(diagnostics), many)


def _files(argument: str) -> Iterator[tuple[str, Path]]:
    directory = Path(argument)
    if not directory.is_dir():
        yield argument, Path(f"{directory.stem}.py")
        return
    for path in sorted(directory.rglob("*.py")):
        content = path.read_bytes()
        if b"triton" in content and any(each in content for each in _KERNELS):
            yield str(path), path.relative_to(directory)


def lift_all(inputs: Sequence[Input], request: Request, jobs: int) -> list[FileLift]:
    """In the order of the files; the longest are begun first."""
    if min(jobs, len(inputs)) < 2:
        lifting = _Lifting()
        return [lifting.lift(each, request) for each in inputs]
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    kinds = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in kinds else None)
    with ProcessPoolExecutor(min(jobs, len(inputs)), context, _begin) as processes:
        order = sorted(range(len(inputs)), key=lambda place: -len(inputs[place].text))
        begun = {place: processes.submit(_lift, inputs[place], request) for place in order}
        return [begun[place].result() for place in range(len(inputs))]


class _Lifting:
    """One process's lifts: files that several of its inputs import are read once."""

    def __init__(self) -> None:
        self.package = Package()

    def lift(self, given: Input, request: Request) -> FileLift:
        wanted = request.wanted
        lifted = checked(lift_text(given.text, given.path, wanted, self.package), wanted)
        verified = _verified(given.text, lifted) if request.verify else {}
        lifted = _merged(given.text, lifted, wanted)
        return FileLift(
            lifted.diagnostics,
            lifted.source,
            lift_report.as_text(lifted, verified),
            lift_report.as_data(lifted, verified),
            tuple(_said(lifted, verified)),
            tuple(kernel.source is not None for kernel in lifted.kernels),
            all(each.holds for each in verified.values()),
            _page(lifted, given.text, verified) if request.page else "",
        )


_lifting: list[_Lifting] = []


def _begin() -> None:
    _lifting.append(_Lifting())


def _lift(given: Input, request: Request) -> FileLift:
    return _lifting[-1].lift(given, request)


def _verified(text: str, lifted: LiftedFile) -> Verified:
    from intentc.lift_verification import verify

    return {each.name: verify(text, lifted.path, each) for each in lifted.kernels if each.source is not None}


def _merged(text: str, lifted: LiftedFile, wanted: Wanted) -> LiftedFile:
    """With each program once: variants of one, such as resident and streamed, are one kernel."""
    if lifted.source is None:
        return lifted
    from translators.comparison.variants import merged

    return merged(text, lifted, wanted.constants)


def _page(lifted: LiftedFile, text: str, verified: Verified) -> str:
    from intentc.viewer import lift_page

    return lift_page(lifted, text, verified)


def _said(lifted: LiftedFile, verified: Verified) -> Iterator[str]:
    for kernel in lifted.kernels:
        if kernel.source is None:
            yield f"{lifted.path}:{kernel.line}: '{kernel.name}' is not lifted: {kernel.reason}"
    for name, found in verified.items():
        yield f"{lifted.path}: '{name}' {found}"
