"""One side of a comparison: a kernel of an Intent file, or of a Triton file by way of what it lifts to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from intent.records import dataclass, replace
from translators.algebra.polynomial import Atom, Polynomial, Symbol, number
from translators.diagnostics import Diagnostic
from translators.intent_source.read import ReadResult, read_program
from translators.intent_source.write import SourceKernel
from translators.lifting.correspondence import Correspondence
from translators.lifting.files import source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Launch, Lifted, lift_kernel
from translators.logical.checks import check
from translators.logical.program import Kernel, ScalarParameter
from translators.logical.types import View
from translators.triton_source.read.kernels import is_constexpr
from translators.triton_source.read.source import Package, TritonFile, read_file
from translators.triton_source.read.values import Function


class NoSide(Exception):
    """There is no program to compare; `rejected` if the file breaks the language rather than our means."""

    def __init__(self, reason: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.diagnostics = tuple(diagnostics)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a Triton kernel's parameters are: all that are not compile-time, in order, and what became of them."""

    lifted: Lifted
    parameters: tuple[str, ...]
    pointers: Mapping[str, str]  # view -> pointer
    strides: Mapping[str, tuple[Polynomial, ...]]  # by view
    unused: tuple[str, ...]  # parameters that no statement mentions
    constants: Mapping[str, object]  # compile-time values that the lift is for
    coverage: tuple[Polynomial, ...]  # not negative, as is assumed of a grid that no host code gives
    groups: tuple[str, ...]  # sizes of groups that are parameters of the program here
    compile_time: tuple[str, ...]  # parameters that are compile-time values, in order


@dataclass(frozen=True, slots=True)
class Side:
    """`text` is what the spans of the kernel point into: the file, or what was lifted from it."""

    path: str
    kernel: Kernel
    text: str
    origin: Origin | None = None

    @property
    def language(self) -> str:
        return "Intent" if self.origin is None else "Triton"

    @property
    def name(self) -> str:
        return self.kernel.name if self.origin is None else self.origin.lifted.name

    @property
    def views(self) -> tuple[View, ...]:
        return self.kernel.views

    @property
    def scalars(self) -> tuple[ScalarParameter, ...]:
        return self.kernel.scalars

    def line(self, number: int) -> str:
        lines = self.text.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def is_intent(text: str) -> bool:
    """Whether the file imports the language. Raises SyntaxError."""
    for statement in ast.parse(text).body:
        match statement:
            case ast.Import(names=names) if any(each.name.partition(".")[0] == "intent" for each in names):
                return True
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "intent":
                return True
            case _:
                pass
    return False


def read_sides(
    text: str, path: str, only: str | None, constants: Mapping[str, object], alone: bool = False
) -> list[Side]:
    """Every kernel of a file, or the one that is named. Raises NoSide if one of them is no program.

    `alone`: the text is all there is, no file is looked for beside it.
    """
    try:
        intent = is_intent(text)
    except (SyntaxError, ValueError) as error:
        raise NoSide(f"the file is not Python: {error}") from None
    if intent:
        return _intent_sides(read_program(text, path, dict(constants), only, alone), text, path, only)
    return list(_triton_sides(read_file(text, path, Package(alone=alone)), only, constants))


def _intent_sides(result: ReadResult, text: str, path: str, only: str | None) -> list[Side]:
    kernels = result.program.kernels if result.program is not None else ()
    found = [*result.diagnostics, *(each for kernel in kernels for each in check(kernel))]
    errors = [each for each in found if each.severity != "note"]
    if result.program is None or errors:
        raise NoSide(errors[0].message if errors else "it holds no program", errors)
    wanted = [kernel for kernel in kernels if only is None or kernel.name == only]
    return [Side(path, kernel, text) for kernel in wanted]


# -------------------------------------------------------------------------------------------------------------- Triton
def _triton_sides(file: TritonFile, only: str | None, constants: Mapping[str, object]) -> Iterator[Side]:
    known = launches(file, constants)
    for function in file.kernels:
        if only is None or function.name == only:
            yield triton_side(file, function, known.get(function.name), constants)


def triton_side(file: TritonFile, function: Function, launch: Launch | None, constants: Mapping[str, object]) -> Side:
    return lifted_side(file, lift_kernel(file, function, launch), launch, constants)


def lifted_side(file: TritonFile, lifted: Lifted, launch: Launch | None, constants: Mapping[str, object]) -> Side:
    """What a kernel lifts to. Raises NoSide if it is not lifted, or not a program."""
    if lifted.source is None or lifted.correspondence is None:
        raise NoSide(f"'{lifted.name}' is not lifted: {lifted.reason}")
    given = {name: constants[name] for name in lifted.groups if name in constants}
    groups = tuple(name for name in lifted.groups if name not in given)
    source, correspondence = _with_runtime(lifted.source, groups), _with_numbers(lifted.correspondence, given)
    lifted = replace(lifted, source=source, correspondence=correspondence)
    text, kernel = _read_back(lifted, file.path, given)
    node = file.functions[lifted.name].node
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    parameters = tuple(each.arg for each in arguments if not is_constexpr(each))
    mentioned = {each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)}
    arrays = correspondence.arrays
    origin = Origin(
        lifted,
        parameters,
        {each.name: each.pointer for each in arrays},
        {each.name: each.strides for each in arrays},
        tuple(name for name in parameters if name not in mentioned),
        correspondence.constants,
        () if launch is not None and launch.grid else correspondence.facts,
        groups,
        tuple(each.arg for each in arguments if is_constexpr(each)),
    )
    return Side(file.path, kernel, text, origin)


def _with_numbers(correspondence: Correspondence, given: Mapping[str, object]) -> Correspondence:
    """The sizes of arrays for these numbers."""
    known: dict[Atom, Polynomial] = {Symbol(name): number(value) for name, value in given.items() if type(value) is int}
    extents = {name: extent.substitute(known) for name, extent in correspondence.extents.items()}
    return replace(correspondence, extents=extents)


def _with_runtime(source: SourceKernel, groups: Sequence[str]) -> SourceKernel:
    """The sizes of groups as parameters of a call, so that what is compared holds for every size."""
    parameters = tuple((name, "I.index" if name in groups else annotation) for name, annotation in source.parameters)
    return replace(source, parameters=parameters)


def _read_back(lifted: Lifted, path: str, constants: Mapping[str, object]) -> tuple[str, Kernel]:
    text = source_of((lifted,), path)
    assert text is not None
    result = read_program(text, f"{path} (lifted)", dict(constants), None)
    errors = [each for each in result.diagnostics if each.severity != "note"]
    if result.program is None or errors:
        said = f": {errors[0].message}" if errors else ""
        raise NoSide(f"what '{lifted.name}' lifts to cannot be read back{said}")
    return text, result.program.kernels[0]
