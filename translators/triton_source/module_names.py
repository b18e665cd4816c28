"""Module-level names of a generated module: public wrappers, launchers, declarations and device functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from translators.triton_source.launch import KernelCode, Variant
from translators.triton_source.module_options import Arm
from translators.triton_source.module_runtime import PRIVATE_NAMES
from translators.triton_source.names import LaunchNames, Scope, launch_names

# Imported and private names that the shared part of the module may define; a kernel that is called so is renamed.
MODULE_LEVEL = frozenset({"NamedTuple", "Callable", "contextlib", "functools", "itertools", "numbers"}) | PRIVATE_NAMES


@dataclass(frozen=True, slots=True)
class PublicNames:
    """The wrappers of one kernel; None for an arm that is not emitted."""

    host: str | None
    host_out: str | None
    device: str | None
    device_out: str | None

    @property
    def all(self) -> list[str]:
        return [name for name in (self.host, self.host_out, self.device, self.device_out) if name]


@dataclass(frozen=True, slots=True)
class KernelNames:
    """Every name that the text of one kernel uses."""

    public: PublicNames
    declaration: str
    launcher: str
    statement: str
    launch: LaunchNames
    helpers: Mapping[str, str]  # jit helpers of the planner -> their name in the module
    forms: Mapping[str, str]  # text of a device function -> its name in the module

    def device_function(self, variant: Variant) -> str:
        return self.forms[variant.source]

    def changes(self, variant: Variant) -> dict[str, str]:
        """What is renamed in the text of a device function."""
        return {**self.helpers, variant.function: self.device_function(variant)}

    @property
    def functions(self) -> set[str]:
        return {*self.helpers.values(), *self.forms.values()}


def module_names(codes: Sequence[KernelCode], arm: Arm) -> list[KernelNames]:
    """Plain kernel names go first, so that it is a derived name that gives way in a collision."""
    scope = Scope(MODULE_LEVEL)
    plain = [scope.name(code.kernel.name) for code in codes]
    public = [_public(name, arm, scope) for name in plain]
    texts: dict[str, str] = {}
    return [_kernel_names(code, wrappers, scope, texts) for code, wrappers in zip(codes, public, strict=True)]


def renamed(text: str, mapping: Mapping[str, str]) -> str:
    """`text` with the definitions and calls of device functions renamed."""
    changed = {old: new for old, new in mapping.items() if old != new}
    if not changed:
        return text
    alternatives = "|".join(map(re.escape, changed))
    return re.sub(rf"(?<![\w.])({alternatives})\b", lambda match: changed[match.group(1)], text)


def _public(name: str, arm: Arm, scope: Scope) -> PublicNames:
    out = scope.name(f"{name}_out")
    if arm == "host":
        return PublicNames(name, out, None, None)
    if arm == "device":
        return PublicNames(None, None, name, out)
    return PublicNames(name, out, scope.name(f"{name}_device"), scope.name(f"{name}_device_out"))


def _kernel_names(code: KernelCode, public: PublicNames, scope: Scope, texts: dict[str, str]) -> KernelNames:
    plain = public.all[0]
    helpers = {name: _function_name(name, text, scope, texts) for name, text in code.helpers.items()}
    sources = {variant.source: variant.function for variant in code.variants}
    forms = {source: _function_name(name, source, scope, texts) for source, name in sources.items()}
    return KernelNames(
        public=public,
        declaration=scope.name(f"_{plain.upper()}"),
        launcher=scope.name(f"_launch_{plain}"),
        statement=scope.name(f"_{plain}_statement"),
        launch=launch_names(code.kernel),
        helpers=helpers,
        forms=forms,
    )


def _function_name(wish: str, text: str, scope: Scope, texts: dict[str, str]) -> str:
    """Kernels share a function whose text is the same; `texts` maps the names given out to their text."""
    if texts.get(wish) == text:
        return wish
    name = scope.name(wish)
    texts[name] = text
    return name
