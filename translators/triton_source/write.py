"""Tile functions as the text of `@triton.jit` functions, one statement at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from intent.dtypes import f32, i32, index
from intent.records import dataclass, field
from translators.algebra.polynomial import Symbol
from translators.logical.program import Kernel
from translators.printing.layout import INDENT, WIDTH
from translators.printing.python_text import SUM
from translators.tile.program import (
    Section,
    TileFunction,
    of_sizes,
)
from translators.triton_source import conversions
from translators.triton_source.expressions import Code, call, parenthesised
from translators.triton_source.finishing import finished
from translators.triton_source.launch import Argument, Pointer, ScalarArgument, ScratchPointer, Size, Stride
from translators.triton_source.lines import Line, Origins
from translators.triton_source.names import LaunchNames
from translators.triton_source.render import Renderer
from translators.triton_source.statements import StatementWriter
from translators.triton_source.telling_names import Vocabulary


@dataclass(frozen=True, slots=True)
class Written:
    """A device function's text without its decorator, its runtime arguments, and the device functions it calls."""

    text: str
    arguments: tuple[Argument, ...]
    helpers: frozenset[str]
    combines: dict[str, str]
    wide_index: bool
    origins: tuple[Origins, ...] = ()  # where each line of the text comes from


def write_function(
    kernel: Kernel, names: LaunchNames, function: TileFunction, known_combines: dict[str, str]
) -> Written:
    """Print one tile function. The kernel's functions share `known_combines`, so that a name means one combine."""
    writer = _FunctionWriter(kernel, names, function, known_combines)
    return writer.write()


@dataclass(slots=True)
class _FunctionWriter:
    kernel: Kernel
    names: LaunchNames
    function: TileFunction
    known_combines: dict[str, str]
    helpers: set[str] = field(default_factory=set)
    combines: dict[str, str] = field(default_factory=dict)
    strides: set[tuple[str, int]] = field(default_factory=set)
    widened: set[tuple[str, int]] = field(default_factory=set)
    scalars: dict[str, bool] = field(default_factory=dict)
    symbols: set[str] = field(default_factory=set)
    buffers: set[str] = field(default_factory=set)
    meanings: dict[str, str] = field(default_factory=dict)

    def write(self) -> Written:
        sections = self._sections(self.function.sections, 1)
        lines = [*self._typed_scalars("\n".join(line.text for line in sections)), *self._wide_strides(), *sections]
        body = finished(lines, self._vocabulary())
        text = "\n".join(line for line, _ in body)
        arguments = tuple(self._arguments(text))
        header = self._header(arguments, "INDEX" in text)
        origins = (*(frozenset() for _ in header), *(found for _, found in body))
        whole = "\n".join([*header, text])
        return Written(whole, arguments, frozenset(self.helpers), self.combines, "INDEX" in text, origins)

    def _vocabulary(self) -> Vocabulary:
        constants = frozenset({*(name for name, _ in self.function.blocks), "INDEX"})
        names = self.names
        pointers = {pointer: names.parameters[view] for view, pointer in names.pointers.items()}
        pointers |= {f"{buffer}_ptr": buffer for buffer in self.buffers}
        author = {name for section in self.function.sections for name in section.names.values()}
        author |= {form.name for section in self.function.sections for form in section.forms.values()}
        scalars = {names.parameters[scalar.name] for scalar in self.kernel.scalars}
        taken = {*constants, *pointers, *scalars, *names.sizes.values(), *names.strides.values()}
        return Vocabulary(frozenset(author | scalars), self.meanings, constants, pointers, names.axes(), taken)

    def _sections(self, sections: Sequence[Section], level: int) -> list[Line]:
        if not sections:
            return [Line(level, "pass")]  # a kernel without an effect
        if len(sections) == 1:
            return self._section(sections[0], level)
        first, rest = sections[0], sections[1:]
        renderer = self._renderer(first)
        bound = renderer.polynomial(first.count, (), wide=False)
        self._absorb(renderer)
        lines = [Line(level, "pid = tl.program_id(0).to(INDEX)")] if sections is self.function.sections else []
        lines.append(Line(level, f"if pid < {bound.text}:"))
        lines += self._section(first, level + 1)
        lines.append(Line(level, "else:"))
        if not of_sizes(first.count):
            bound = call("tl.cast", bound, Code("INDEX"))  # data is wider, and pid has one type in all branches
        lines.append(Line(level + 1, f"pid -= {parenthesised(bound, SUM + 1)}"))
        return lines + self._sections(rest, level + 1)

    def _typed_scalars(self, text: str) -> Iterator[Line]:
        """The CPU interpreter passes floats as Python floats, and integers as wide as their value."""
        for scalar in self.kernel.scalars:
            name = self.names.parameters[scalar.name]
            alone = self.scalars.get(scalar.name, False) or re.search(rf"\b{name}\.to\(", text) is not None
            needed = alone if scalar.dtype == f32 else scalar.name in self.scalars
            if needed and scalar.dtype not in (i32, index):
                value = conversions.scalar_parameter(Code(name), scalar.dtype)
                self.helpers |= value.helpers
                yield Line(1, f"{name} = {value.code.text}")

    def _wide_strides(self) -> Iterator[Line]:
        """Sizes and strides are as wide as their values, of which products may need more."""
        for view, axis in sorted(self.widened, key=lambda each: (self._position(each[0]), each[1])):
            name = self.names.strides[view, axis]
            yield Line(1, f"{name} = tl.cast({name}, INDEX)")

    def _position(self, view: str) -> int:
        return [each.name for each in self.kernel.views].index(view)

    def _renderer(self, section: Section) -> Renderer:
        return Renderer(self.names, section, lengths=dict(self.function.blocks))

    def _section(self, section: Section, level: int) -> list[Line]:
        writer = StatementWriter(self.kernel.name, self.known_combines, self.combines, self._renderer(section), level)
        writer.statements(section.statements)
        self._absorb(writer.renderer)
        return writer.lines

    def _absorb(self, renderer: Renderer) -> None:
        self.helpers |= renderer.helpers
        self.combines |= renderer.functions
        self.strides |= renderer.strides
        self.widened |= renderer.widened
        for name, alone in renderer.scalars.items():
            self.scalars[name] = alone or self.scalars.get(name, False)
        self.symbols |= set(renderer.symbols)
        self.buffers |= set(renderer.buffers)
        self.meanings |= renderer.meanings

    def _arguments(self, text: str) -> Iterator[Argument]:
        """All pointers in declaration order, sizes and strides that are used, scratch, all scalars."""
        yield from (Pointer(view.name) for view in self.kernel.views)
        seen: set[str] = set()
        for view in self.kernel.views:
            for extent in view.shape:
                atom = extent.atom
                if isinstance(atom, Symbol) and atom.name in self.symbols and atom.name not in seen:
                    seen.add(atom.name)
                    yield Size(atom.name)
        for view in self.kernel.views:
            for axis in range(view.rank):
                if (view.name, axis) in self.strides:
                    yield Stride(view.name, axis)
        yield from (ScratchPointer(name) for name in sorted(self.buffers))
        yield from (ScalarArgument(scalar.name) for scalar in self.kernel.scalars)

    def _header(self, arguments: Sequence[Argument], wide: bool) -> list[str]:
        groups: list[list[str]] = []
        for kind in (Pointer, Size, Stride, ScratchPointer, ScalarArgument):
            group = [self._parameter(argument) for argument in arguments if isinstance(argument, kind)]
            groups.append(group)
        constants = [f"{name}: tl.constexpr" for name, _ in self.function.blocks]
        constants += ["INDEX: tl.constexpr"] if wide else []
        parameters = [parameter for group in groups for parameter in group] + constants
        one_line = f"def {self.function.name}({', '.join(parameters)}):"
        if len(one_line) <= WIDTH:
            return [one_line]
        if len(INDENT) + len(", ".join(parameters)) <= WIDTH:
            return [f"def {self.function.name}(", f"{INDENT}{', '.join(parameters)}", "):"]
        lines = [line for group in [*groups, constants] for line in _filled(group)]
        return [f"def {self.function.name}(", *lines, "):  # fmt: skip"]

    def _parameter(self, argument: Argument) -> str:
        name = self.names.argument(argument)
        if isinstance(argument, ScalarArgument):
            dtype = next(scalar.dtype for scalar in self.kernel.scalars if scalar.name == argument.name)
            return f"{name}: {conversions.TRITON_NAME[conversions.passed_as(dtype).name]}"
        return name


def _filled(parameters: Sequence[str]) -> Iterator[str]:
    """Parameters of one kind, as many to a line as fit."""
    line = ""
    for parameter in parameters:
        if line and len(line) + len(parameter) + 2 > WIDTH:
            yield line
            line = ""
        line = f"{line} {parameter}," if line else f"{INDENT}{parameter},"
    if line:
        yield line
