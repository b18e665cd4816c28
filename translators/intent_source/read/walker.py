"""The state of reading one kernel: the builder, and the frames of the kernel and of the helpers inlined in it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from intent.records import dataclass, field, replace
from translators.diagnostics import Diagnostic, Span
from translators.intent_source.read import codes
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.liveness import Liveness, liveness, own_names
from translators.intent_source.read.operands import Function, Operand, Product
from translators.intent_source.read.scope import (
    Binding,
    Frame,
    Missing,
    ModuleScope,
    Namespace,
    Poisoned,
)
from translators.logical.program import Value
from translators.logical.types import Domain

Observer = Callable[["Walker", ast.AST, Binding], None]
"""Is told what a name means where it is read or bound."""


@dataclass(slots=True, eq=False)
class Walker:
    """Implements `builder.Tracer`. `frames[-1]` is the function being read."""

    builder: Builder
    frames: list[Frame] = field(default_factory=list)
    errors: int = 0  # found so far, repeated ones included
    observe: Observer | None = None

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def scope(self) -> ModuleScope:
        return self.frame.scope

    def call(self, function: Function, arguments: Sequence[Operand], span: Span) -> Operand:
        from translators.intent_source.read.calls import inline

        return inline(self, function, tuple(arguments), span)

    # --------------------------------------------------------------------------------------------------- positions
    def here(self, node: ast.AST) -> None:
        """What follows is said about this node."""
        self.builder.span = self.scope.source.span(node)

    def report(self, diagnostic: Diagnostic) -> None:
        """Record an error; once for a helper that is inlined several times."""
        self.errors += 1
        if diagnostic not in self.builder.diagnostics:
            self.builder.diagnostics.append(diagnostic)

    # ------------------------------------------------------------------------------------------------------- names
    def bind(self, name: str, binding: Binding, node: ast.AST, renames: bool = True) -> None:
        if isinstance(self.scope.names.get(name), Namespace):
            self.here(node)
            self.builder.reject(codes.SHADOWED, f"'{name}' is the name of a module here", "choose another name")
        self.frame.names[name] = found = self.named(name, binding, renames)
        if self.observe is not None:
            self.observe(self, node, found)

    def named(self, name: str, binding: Binding, overwrite: bool = True) -> Binding:
        """Remember the author's name for values, and give it to a domain that has none."""
        match binding:
            case _ if not name.strip("_"):
                return binding
            case Value() if overwrite or binding not in self.builder.names:
                self.builder.names[binding] = name
            case Product(items=items, names=fields):
                for position, item in enumerate(items):
                    if isinstance(item, Value) and item not in self.builder.names:
                        self.builder.names[item] = f"{name}_{fields[position] if fields else position}"
            case Domain(name=None):
                return replace(binding, name=name)
            case _:
                pass
        return binding

    def poison(self, names: frozenset[str]) -> None:
        self.frame.names.update(dict.fromkeys(names, Poisoned()))

    def known(self) -> set[str]:
        """Names that could be meant here, for suggestions."""
        local = {name for name, binding in self.frame.names.items() if not isinstance(binding, (Missing, Poisoned))}
        return local | set(self.scope.names)


def liveness_of(scope: ModuleScope, node: ast.FunctionDef) -> Liveness:
    if node not in scope.liveness:
        scope.liveness[node] = liveness(node)
    return scope.liveness[node]


def new_frame(scope: ModuleScope, node: ast.FunctionDef, names: dict[str, Binding], function: Function | None) -> Frame:
    return Frame(node.name, scope, names, own_names(node), liveness_of(scope, node), function)
