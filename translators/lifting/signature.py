"""The parameters and the first lines of a lifted kernel: views, sizes, domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, Symbol
from translators.intent_source import write as w
from translators.intent_source.write import SourceKernel
from translators.lifting.names import kernel_name
from translators.lifting.sinks import Ledger
from translators.lifting.spelled import dtype_text
from translators.lifting.spelling import Speller, varies
from translators.lifting.views import Layout
from translators.tile.effects import KernelEffects, KernelParameter
from translators.triton_source.read.values import Value

Shapes = Mapping[str, tuple[str | int, ...]]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a kernel is written with, once its statements are spelled; `constants` are what its launch passes."""

    effects: KernelEffects
    blocks: frozenset[str]
    constants: Mapping[str, Value]
    layouts: Mapping[str, Layout]
    speller: Speller
    ledger: Ledger

    def kernel(self, statements: Sequence[str]) -> SourceKernel:
        speller, layouts = self.speller, self.layouts
        shapes = {name: tuple(map(self._extent, layout.view.shape)) for name, layout in layouts.items()}
        domains = [
            f"{name} = {w.call('I.domain', speller.size(axis.begin), speller.size(axis.end))}"
            for axis, name in speller.domains.items()
            if axis not in speller.local_domains and not varies(axis)
        ]
        sizes = list(self._size_lines(shapes))
        parameters = tuple(self._annotations(shapes))
        functions = tuple(speller.functions.values())
        return SourceKernel(
            kernel_name(self.effects.name), parameters, (*sizes, *domains, *statements), functions=functions
        )

    def _extent(self, extent: Polynomial) -> str | int:
        known, atom = extent.constant, extent.atom
        if known is not None:
            return known
        assert isinstance(atom, Symbol)
        return self.speller.sizes.get(atom.name, atom.name)

    def _size_lines(self, shapes: Shapes) -> Iterator[str]:
        """Each size that is used, read from the first view that has it."""
        speller = self.speller
        wanted = [speller.sizes.get(name, name) for name in speller.used_sizes]
        done: set[str] = set()
        for pointer, shape in shapes.items():
            view = self.layouts[pointer].view.name
            fresh = [size for size in shape if size in wanted and size not in done]
            if len(fresh) == len(shape) == len(set(fresh)) and len(shape) > 1:
                yield f"{', '.join(map(str, shape))} = {view}.shape"
            else:
                yield from (f"{size} = {view}.shape[{shape.index(size)}]" for size in dict.fromkeys(fresh))
            done.update(map(str, fresh))

    def _annotations(self, shapes: Shapes) -> Iterator[tuple[str, str]]:
        speller, layouts = self.speller, self.layouts
        extents = {str(size) for shape in shapes.values() for size in shape}
        used = set(speller.used_sizes) | speller.scalars
        for each in self.effects.parameters:
            name = each.name
            if name in layouts:
                view = layouts[name].view
                shape = w.as_tuple([f'"{size}"' if isinstance(size, str) else str(size) for size in shapes[name]])
                yield view.name, f"I.{view.direction}[{dtype_text(view.dtype)}, {shape}]"
                self._assume_type(name, each)
            elif each.kind != "pointer" and name in used and name not in extents:
                yield name, "I.index" if name in speller.used_sizes else dtype_text(each.dtype)
        for name in named_sizes(speller):
            if name not in extents | {each.name for each in self.effects.parameters} | self.blocks:
                yield name, "I.index"  # a number of programs that no array tells
        known = self.constants
        blocks = sorted(self.blocks & (used - extents))
        for name in sorted(blocks, key=lambda each: isinstance(known.get(each), int)):  # those with a default last
            yield name, "I.Constexpr[int]" + (f" = {known[name]}" if isinstance(known.get(name), int) else "")

    def _assume_type(self, name: str, parameter: KernelParameter) -> None:
        if parameter.assumed:
            self.ledger.add("assumed", f"{name} holds {parameter.dtype.name}")


def named_sizes(speller: Speller) -> dict[str, str]:
    """The sizes that are used, by the names that they have in the source."""
    return {speller.sizes.get(size, size): size for size in speller.used_sizes}
