"""The kernels that host code compiles: as the file has them, or as specialisations with names of their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from translators.diagnostics import Diagnostic
from translators.intent_source.read import codes
from translators.logical.program import Kernel

Reading = tuple[Kernel | None, list[Diagnostic]]
Reader = Callable[[ast.FunctionDef, Mapping[str, object]], Reading]


@dataclass(slots=True)
class Specialisations:
    """`plain` has the kernels of the file as they are without host code; `reader` reads one with other constexprs."""

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

    def get(self, node: ast.FunctionDef, given: Mapping[str, object], wish: str) -> Kernel | None:
        """The kernel with these constexprs; None if it has an error, which is reported. `wish` is a name for it."""
        plain = self.plain[node.name][0]
        if not given:
            self.used_plain.add(node.name)
            return plain
        bound = {**self.constexprs, **{f"{node.name}.{name}": value for name, value in given.items()}}
        kernel, found = self.reader(node, bound)
        self.specialised.add(node.name)
        if kernel is None:
            self.diagnostics.extend(found)
            return None
        if plain is not None and plain.constants == kernel.constants:
            return plain
        self.diagnostics.extend(found)
        return self._named(kernel, wish)

    def _named(self, kernel: Kernel, wish: str) -> Kernel:
        """The same specialisation has one name, whoever asks for it."""
        key = (kernel.name, kernel.constants)
        if key not in self._made:
            taken = {*(name for name, reading in self.plain.items() if reading[0]), *(each.name for each in self.made)}
            self._made[key] = replace(kernel, name=_free(re.sub(r"\W", "_", wish), taken))
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
