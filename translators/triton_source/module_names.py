"""Module-level names of a generated module: public wrappers, launchers, declarations and device functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from intent.records import dataclass, replace
from translators.logical.composition import Host
from translators.triton_source import composition_runtime
from translators.triton_source.launch import KernelCode, Variant
from translators.triton_source.module_options import Arm
from translators.triton_source.module_runtime import PRIVATE_NAMES
from translators.triton_source.names import LaunchNames, Scope, launch_names

# Imported and private names that the shared part of the module may define; a kernel that is called so is renamed.
_IMPORTED = frozenset({"NamedTuple", "Callable", "contextlib", "functools", "itertools", "math", "numbers"})
MODULE_LEVEL = _IMPORTED | PRIVATE_NAMES | composition_runtime.PRIVATE_NAMES


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
    prepare: str
    statement: str
    launch: LaunchNames
    helpers: Mapping[str, str]  # jit helpers of the planner -> their name in the module
    forms: Mapping[str, str]  # text of a device function -> its name in the module
    private_device: tuple[str, str] | None = None  # for composed functions in a module of host functions

    @property
    def device_functions(self) -> tuple[str, str]:
        """What composed functions call: the allocating function, and the one that writes what it is handed."""
        if self.private_device is not None:
            return self.private_device
        assert self.public.device and self.public.device_out
        return self.public.device, self.public.device_out

    def device_function(self, variant: Variant) -> str:
        return self.forms[variant.source]

    def changes(self, variant: Variant) -> dict[str, str]:
        """What is renamed in the text of a device function."""
        return {**self.helpers, variant.function: self.device_function(variant)}

    @property
    def functions(self) -> set[str]:
        return {*self.helpers.values(), *self.forms.values()}


@dataclass(frozen=True, slots=True)
class CompositionNames:
    """`public` has the wrappers of each composition, `private` what the definitions of host code are called.

    `aliases` are for functions whose own name is a variable of host code that calls them.
    """

    public: tuple[PublicNames, ...]
    private: Mapping[str, str]
    aliases: Mapping[str, str]


def module_names(codes: Sequence[KernelCode], arm: Arm, host: Host | None = None) -> list[KernelNames]:
    """The names of every kernel, in a module that has these compositions too."""
    return _all_names(codes, arm, host)[0]


def composition_names(codes: Sequence[KernelCode], arm: Arm, host: Host) -> CompositionNames:
    """The names of composed functions, in a module of these kernels."""
    return _all_names(codes, arm, host)[1]


def _all_names(codes: Sequence[KernelCode], arm: Arm, host: Host | None) -> tuple[list[KernelNames], CompositionNames]:
    """Plain names go first, so that it is a derived name that gives way in a collision; compositions before kernels."""
    host = host or Host((), (), ())
    scope = Scope([*MODULE_LEVEL, *imported_names(host.imports)])
    composed = [scope.name(composition.name) for composition in host.compositions]
    plain = [scope.name(code.kernel.name) for code in codes]
    pairs = zip(composed, host.compositions, strict=True)
    outer = tuple(_public(name, arm, scope, bool(composition.outputs)) for name, composition in pairs)
    public = [_public(name, arm, scope) for name in plain]
    texts: dict[str, str] = {}
    kernels = [_kernel_names(code, wrappers, scope, texts) for code, wrappers in zip(codes, public, strict=True)]
    used = {name for composition in host.compositions for name in composition.kernels}
    called = [code.kernel.name in used for code in codes]
    if arm == "host":
        kernels = [
            _with_private_device(each, scope) if use else each for each, use in zip(kernels, called, strict=True)
        ]
    functions = [name for each, use in zip(kernels, called, strict=True) if use for name in each.device_functions]
    wishes = {each.function: f"_{name}" for each, name in zip(host.compositions, composed, strict=True)}
    return kernels, CompositionNames(outer, *_host_names(host, wishes, functions, scope))


def imported_names(imports: Sequence[str]) -> list[str]:
    """What `import a.b`, `import a as b` and `from a import b` bind."""
    return [line.split(" ")[-1].partition(".")[0] for line in imports]


def _with_private_device(names: KernelNames, scope: Scope) -> KernelNames:
    plain = names.public.all[0]
    return replace(names, private_device=(scope.name(f"_{plain}_device"), scope.name(f"_{plain}_device_out")))


def renamed(text: str, mapping: Mapping[str, str]) -> str:
    """`text` with the definitions and calls of device functions renamed."""
    changed = {old: new for old, new in mapping.items() if old != new}
    if not changed:
        return text
    alternatives = "|".join(map(re.escape, changed))
    return re.sub(rf"(?<![\w.])({alternatives})\b", lambda match: changed[match.group(1)], text)


def _host_names(
    host: Host, wishes: Mapping[str, str], functions: Sequence[str], scope: Scope
) -> tuple[dict[str, str], dict[str, str]]:
    """Names of the definitions of host code, and aliases of functions that its variables would hide.

    Constants keep their names, which variables hide where the author meant it; functions are private.
    """
    local = frozenset(name for definition in host.definitions for name in definition.local)
    constants = [name for definition in host.definitions if not definition.is_function for name in definition.names]
    private = {name: scope.name(name) for name in constants}
    scope = Scope([*scope.taken, *local])
    for definition in host.definitions:
        if definition.is_function:
            private.update({name: scope.name(wishes.get(name, f"_{name.lstrip('_')}")) for name in definition.names})
    return private, {name: scope.name(f"_{name}") for name in functions if name in local}


def _public(name: str, arm: Arm, scope: Scope, writes: bool = True) -> PublicNames:
    """Without the forms that write results to arrays they are handed, if it `writes` none."""
    out = scope.name(f"{name}_out") if writes else None
    if arm == "host":
        return PublicNames(name, out, None, None)
    if arm == "device":
        return PublicNames(None, None, name, out)
    device = scope.name(f"{name}_device")
    return PublicNames(name, out, device, scope.name(f"{name}_device_out") if writes else None)


def _kernel_names(code: KernelCode, public: PublicNames, scope: Scope, texts: dict[str, str]) -> KernelNames:
    plain = public.all[0]
    helpers = {name: _function_name(name, text, scope, texts) for name, text in code.helpers.items()}
    sources = {variant.source: variant.function for variant in code.variants}
    forms = {source: _function_name(name, source, scope, texts) for source, name in sources.items()}
    return KernelNames(
        public=public,
        declaration=scope.name(f"_{plain.upper()}"),
        launcher=scope.name(f"_launch_{plain}"),
        prepare=scope.name(f"_prepare_{plain}"),
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
