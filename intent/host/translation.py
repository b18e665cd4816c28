"""A translated kernel file as plain data: the module's text and what callers need of each kernel; to JSON and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from intent.host.interface import Interface, ModuleFunctions, Parameter
from intent.records import asdict, dataclass
from translators.diagnostics import Diagnostic, Fix, Span


@dataclass(frozen=True, slots=True)
class TranslatedKernel:
    """One kernel of the module. `ir` is its logical program as text."""

    interface: Interface
    functions: ModuleFunctions
    ir: str


@dataclass(frozen=True, slots=True)
class Translation:
    """`source` is the generated module. `imported` maps files it was made from, beside the kernel's, to their digests;
    None stands for a file that must not exist, as it would be imported instead of another."""

    source: str
    kernels: Mapping[str, TranslatedKernel]
    diagnostics: tuple[Diagnostic, ...]
    imported: Mapping[str, str | None]


def to_json(translation: Translation) -> str:
    return json.dumps(asdict(translation))


def from_json(text: str) -> Translation:
    data = json.loads(text)
    return Translation(
        source=data["source"],
        kernels={name: _kernel(kernel) for name, kernel in data["kernels"].items()},
        diagnostics=tuple(_diagnostic(diagnostic) for diagnostic in data["diagnostics"]),
        imported=data["imported"],
    )


# What JSON holds has no types of its own.
def _kernel(data: dict[str, Any]) -> TranslatedKernel:
    interface = data["interface"]
    parameters = tuple(_parameter(parameter) for parameter in interface["parameters"])
    constants = tuple((name, value) for name, value in interface["constants"])
    return TranslatedKernel(
        Interface(interface["name"], parameters, constants), ModuleFunctions(**data["functions"]), data["ir"]
    )


def _parameter(data: dict[str, Any]) -> Parameter:
    return Parameter(**{**data, "shape": tuple(data["shape"]), "strides": tuple(data["strides"])})


def _diagnostic(data: dict[str, Any]) -> Diagnostic:
    fix = data["fix"] and Fix(Span(**data["fix"]["span"]), data["fix"]["replacement"])
    return Diagnostic(**{**data, "span": Span(**data["span"]), "fix": fix})
