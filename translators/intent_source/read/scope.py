"""What a name can be bound to while reading, beside operands: names of the language, of the file, and of the host."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NoReturn, Protocol

from intent.records import dataclass, field
from translators.diagnostics import Diagnostic, Fix, Rejected, Span
from translators.intent_source.read.liveness import Liveness
from translators.intent_source.read.operands import Function, Literal, Operand
from translators.intent_source.read.source import Source
from translators.logical.program import Value
from translators.logical.types import Direction


# ------------------------------------------------------------------------------------------- things that are no value
@dataclass(frozen=True, slots=True)
class Namespace:
    """A module: `intent`, `intent.language` or `math`."""

    path: str


@dataclass(frozen=True, slots=True)
class Form:
    """A name that is used in definitions: In, Out, InOut, Constexpr, constraints, Enum, dtype, kernel, fn."""

    name: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin function or type of Python, or a function of `math` (`math.sqrt`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Constraints:
    """`I.constraints(...)`."""

    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False


@dataclass(frozen=True, slots=True)
class ViewAnnotation:
    """`I.In[dtype, shape, constraints]` and its `Out` and `InOut` forms, before they are checked."""

    direction: Direction
    arguments: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class ConstexprAnnotation:
    """`I.Constexpr[int]`; `choice` is a Builtin or an EnumClass if the annotation is well formed."""

    choice: Binding


@dataclass(frozen=True, slots=True, eq=False)
class KernelName:
    """An `@intent.kernel`: host code calls it, a kernel cannot."""

    node: ast.FunctionDef
    scope: ModuleScope  # of the file that defines it


@dataclass(frozen=True, slots=True)
class HostName:
    """Something that has no meaning in a kernel; `what` completes "'x' is ..."."""

    what: str
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Deferred:
    """A name of another file (`member` None: the file itself), which is read when the name is first used."""

    module: str
    level: int
    member: str | None


@dataclass(frozen=True, slots=True, eq=False)
class FileModule:
    """Another source file, imported as a module."""

    scope: ModuleScope


@dataclass(frozen=True, slots=True)
class Poisoned:
    """Bound by a statement that has an error, which is reported already."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A name of this function without a value here; `reason` completes "'x' ..."."""

    reason: str
    help: str | None = None


Reference = (
    Namespace | Form | Builtin | Constraints | ViewAnnotation | ConstexprAnnotation | KernelName | HostName | Deferred
    | FileModule | Poisoned | Missing
)  # fmt: skip
Binding = Operand | Reference
REFERENCES = (
    Namespace, Form, Builtin, Constraints, ViewAnnotation, ConstexprAnnotation, KernelName, HostName, Deferred,
    FileModule, Poisoned, Missing,
)  # fmt: skip


class Abandoned(Exception):
    """The construct depends on something with an error that is reported already."""


# --------------------------------------------------------------------------------------------------------------- scopes
class Loader(Protocol):
    """Reads the files that a file imports."""

    def module(self, importer: ModuleScope, module: str, level: int, span: Span) -> ModuleScope:
        """The scope of an imported file; Rejected if there is none or it cannot be read."""
        ...


@dataclass(slots=True, eq=False)
class ModuleScope:
    """The names of one file."""

    source: Source
    loader: Loader
    names: dict[str, Binding] = field(default_factory=dict)
    liveness: dict[ast.FunctionDef, Liveness] = field(default_factory=dict)

    def reject(
        self, node: ast.AST, code: str, message: str, help: str | None = None, fix: Fix | str | None = None
    ) -> NoReturn:
        """The node breaks the language; `fix` is the edit that mends it, or what to write in place of the node."""
        span = self.source.span(node)
        edit = Fix(span, fix) if isinstance(fix, str) else fix
        raise Rejected(Diagnostic(code, "error", message, span, help, edit))

    def respelling(self, node: ast.AST, name: str, known: Iterable[str]) -> Fix | None:
        """The edit that puts what was meant in place of a misspelt name, if only one known name is that close."""
        return self.source.respelling(node, name, closest(name, known))

    @property
    def language(self) -> str:
        """What the file calls the language."""
        found = (name for name, binding in self.names.items() if binding == Namespace("intent.language"))
        return next(found, "I")


@dataclass(frozen=True, slots=True)
class Negated:
    """The opposite of a bool scalar, not computed until it is needed."""

    value: Value


Flag = bool | Value | Negated


@dataclass(frozen=True, slots=True)
class Flow:
    """Whether control has left the block being read, and how.

    `left`: the rest of the block does not run; `broke`: the innermost loop ends; `returned`: the function does, giving
    `result` (None: no value so far); `bare`: some path returned no value.
    """

    left: Flag = False
    broke: Flag = False
    returned: Flag = False
    result: Operand | None = None
    bare: bool = False


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """A loop whose body is being read: "for", "while" or "parallel", and the names that `break` and `continue` keep."""

    kind: str
    live: frozenset[str]


@dataclass(slots=True, eq=False)
class Frame:
    """One function while its body is read; a helper has a frame for every call."""

    name: str
    scope: ModuleScope
    names: dict[str, Binding]
    own: frozenset[str]  # every name the function binds anywhere: Python looks none of them up in the file
    liveness: Liveness
    function: Function | None = None  # None: the kernel
    loops: list[OpenLoop] = field(default_factory=list)  # innermost last
    flow: Flow = Flow()
    literals: dict[str, Literal] = field(default_factory=dict)  # carried names that began as a literal without a dtype
    tail: bool = True  # nothing of the function or of the innermost loop's body follows the block being read


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is closer than any other, and close enough to be what was meant."""
    import difflib

    close = difflib.get_close_matches(name, sorted(set(known)), n=2)
    ratios = [difflib.SequenceMatcher(None, each, name).ratio() for each in close]
    return close[0] if len(close) == 1 or (close and ratios[0] > ratios[1]) else None


def suggestion(name: str, known: Iterable[str], prefix: str = "") -> str | None:
    """A "did you mean" for a name that nothing defines."""
    import difflib  # only a wrong program pays for it

    close = difflib.get_close_matches(name, sorted(set(known)), n=1)
    return f"did you mean '{prefix}{close[0]}'?" if close else None
