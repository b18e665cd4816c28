"""A file's host functions that call its kernels, as text with places for names that the writer of the module chooses.

    Host        = imports, definitions, compositions
    Definition  = the text of a function or constant of the file
    Text        = (str | reference)*

Host code is ordinary Python and is not given a meaning here: it is carried over, and only its ways of compiling and
calling kernels are replaced by references to the functions that the generated module has for them.
"""

from __future__ import annotations

from typing import Literal

from intent.records import dataclass

CallForm = Literal["launch", "run", "prepare"]
ParameterKind = Literal["positional only", "positional", "any number", "keyword only", "any keywords"]


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """The device function of a kernel that takes every array, allocates the outputs, or binds the arguments."""

    kernel: str
    form: CallForm


@dataclass(frozen=True, slots=True)
class KernelValue:
    """A kernel as a value that host code passes around."""

    kernel: str


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """The keyword for a parameter, or for an extent that only outputs have, of a kernel's functions."""

    kernel: str
    name: str


@dataclass(frozen=True, slots=True)
class Defined:
    """The name of a definition that is carried over too."""

    name: str


Reference = KernelFunction | KernelValue | KernelParameter | Defined
Text = tuple[str | Reference, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """`names` are what it binds. `local` are the names of its own that a reference must not be hidden by."""

    names: tuple[str, ...]
    text: Text
    is_function: bool
    local: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: ParameterKind = "positional"
    default: Text | None = None


@dataclass(frozen=True, slots=True)
class Composition:
    """A function for callers of the module. `function` is its definition, or, if `built`, the one that returns it.

    `outputs` names the arrays that it returns; None if it does not say how many there are.
    """

    name: str
    function: str
    built: bool
    parameters: tuple[Parameter, ...]
    outputs: tuple[str, ...] | None
    kernels: tuple[str, ...]
    docstring: str | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """`imports` are statements; `definitions` are in an order in which each can be executed."""

    imports: tuple[str, ...]
    definitions: tuple[Definition, ...]
    compositions: tuple[Composition, ...]
