"""The kernels that host code compiles: as the file has them, or as specialisations with names of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from intent.records import dataclass, field, replace
from translators.diagnostics import Diagnostic
from translators.intent_source.read import codes
from translators.intent_source.read.scope import KernelName, ModuleScope
from translators.logical.program import Kernel

Reading = tuple[Kernel | None, list[Diagnostic]]
Reader = Callable[[KernelName, Mapping[str, object]], Reading]


@dataclass(slots=True)
class Specialisations:
    """`plain` has the kernels of the file as they are without host code; `reader` reads one with other constexprs, or
    one of another file."""

    scope: ModuleScope
    plain: Mapping[str, Reading]
    reader: Reader
    constexprs: Mapping[str, object]
    used_plain: set[str] = field(default_factory=set)
    specialised: set[str] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _made: dict[tuple[object, ...], Kernel] = field(default_factory=dict)

    @property
    def made(self) -> tuple[Kernel, ...]:
        return tuple(self._made.values())

    def get(self, kernel: KernelName, given: Mapping[str, object], wish: str | None) -> Kernel | None:
        """The kernel with these constexprs; None if it has an error, which is reported. `wish` is a name for it."""
        name = kernel.node.name
        plain = self.plain[name] if kernel.scope is self.scope else None
        if plain is not None and not given:
            self.used_plain.add(name)
            return plain[0]
        bound = {**self.constexprs, **{f"{name}.{constexpr}": value for constexpr, value in given.items()}}
        found, diagnostics = self.reader(kernel, bound)
        if plain is not None:
            self.specialised.add(name)
            if found is not None and plain[0] is not None and plain[0].constants == found.constants:
                return plain[0]
        self.diagnostics.extend(diagnostics)
        return self._named(kernel, found, wish if given and wish else name) if found is not None else None

    def _named(self, kernel: KernelName, found: Kernel, wish: str) -> Kernel:
        """The same specialisation has one name, whoever asks for it."""
        key = (kernel.node, found.constants)
        if key not in self._made:
            taken = {*(name for name, reading in self.plain.items() if reading[0]), *(each.name for each in self.made)}
            self._made[key] = replace(found, name=_free(re.sub(r"\W", "_", wish), taken))
        return self._made[key]

    def outcome(self, name: str) -> Reading:
        """A kernel of the file, given what host code does with it: none if it lacks constexprs that host code binds."""
        kernel, found = self.plain[name]
        errors = {each.code for each in found if each.severity != "note"}
        bound_elsewhere = name in self.specialised and name not in self.used_plain
        if kernel is None and bound_elsewhere and errors == {codes.UNBOUND_CONSTEXPR}:
            return None, []
        return kernel, found


def _free(wish: str, taken: set[str]) -> str:
    name = wish if wish.isidentifier() else f"kernel_{wish}"
    return next(
        each for each in (name, *(f"{name}_{count}" for count in range(2, len(taken) + 3))) if each not in taken
    )
