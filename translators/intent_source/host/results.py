"""How many arrays a host function returns, and what its author calls them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from intent.records import dataclass
from translators.intent_source.host.lexical import Function

if TYPE_CHECKING:
    from translators.intent_source.host.carrying import Carrier


Outputs = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Results:
    """Names of the arrays that functions return, None where the returns do not tell, or differ in number.

    `outputs_of` asks for another function of the file.
    """

    carrier: Carrier
    outputs_of: Callable[[str], Outputs]

    def of(self, function: Function) -> Outputs:
        values = [function.body] if isinstance(function, ast.Lambda) else list(_returned(function))
        names = [self._names(value) if value is not None else () for value in values]
        known = [each for each in names if each is not None]
        if len(known) < len(names) or len({len(each) for each in known}) > 1:
            return None
        taken = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        return tuple(_distinct(known[-1] if known else (), taken))

    def _names(self, value: ast.expr) -> Outputs:
        match value:
            case ast.Constant(value=None):
                return ()
            case ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
                return tuple(part.id if isinstance(part, ast.Name) else "out" for part in parts)
            case ast.Tuple() | ast.List() | ast.ListComp() | ast.Dict() | ast.DictComp():
                return None
            case ast.Name(id=name):
                return self._of_variable(name, value)
            case ast.Call():
                return self._of_call(value)
            case ast.IfExp(body=body, orelse=orelse):
                either = self._names(body), self._names(orelse)
                return either[0] if None not in either and len(either[0] or ()) == len(either[1] or ()) else None
            case _:
                return ("out",)

    def _of_variable(self, name: str, node: ast.Name) -> Outputs:
        """A variable that holds what a call gave may be a tuple."""
        region = self.carrier.names.regions[node]
        for occurrence in self.carrier.names.of(region, name):
            match self.carrier.names.parents.get(occurrence):
                case ast.Assign(targets=[target], value=ast.Call() as call) if target is occurrence:
                    found = self._of_call(call)
                    if found is None or len(found) != 1:
                        return found
                case _:
                    pass
        return (name,)

    def _of_call(self, call: ast.Call) -> Outputs:
        if call in self.carrier.calls:
            kernel, form = self.carrier.calls[call]
            if form == "prepare":  # no array
                return None
            return tuple(view.name for view in kernel.views if form == "run" and view.direction == "Out")
        match call.func:
            case ast.Attribute(value=ast.Name() as prepared, attr="result") if self._is_prepared(prepared):
                return None
            case ast.Name(id=name) if isinstance(self.carrier.file.statements.get(name), ast.FunctionDef):
                return self.outputs_of(name)
            case _:
                return ("out",)

    def _is_prepared(self, node: ast.Name) -> bool:
        """Whether a variable may hold a prepared call."""
        region = self.carrier.names.regions[node]
        around = (self.carrier.names.parents.get(each) for each in self.carrier.names.of(region, node.id))
        calls = [each.value for each in around if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
        return any(self.carrier.calls.get(call, (None, ""))[1] == "prepare" for call in calls)


def _returned(function: ast.AST) -> Iterator[ast.expr | None]:
    """The values of return statements, without those of functions inside."""
    for node in ast.iter_child_nodes(function):
        match node:
            case ast.Return(value=value):
                yield value
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                pass
            case _:
                yield from _returned(node)


def _distinct(names: tuple[str, ...], taken: set[str]) -> Iterator[str]:
    for name in names:
        numbered = (f"{name}_{number}" for number in range(2, len(names) + len(taken) + 3))
        chosen = next(each for each in (name, f"{name}_out", *numbered) if each not in taken)
        taken.add(chosen)
        yield chosen
