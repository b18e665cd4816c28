"""Imports point one way. Each package may import what its row names, itself, and nothing else of this project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("intent", "translators", "intentc")

LANGUAGE = ("intent",)
FOUNDATION = (
    *LANGUAGE,
    "translators.diagnostics",
    "translators.diagnostic_codes",
    "translators.options",
    "translators.syntax_tree",
    "translators.printing",
)
ALGEBRA = (*FOUNDATION, "translators.algebra")
LOGICAL = (*ALGEBRA, "translators.logical")
TILE = (*LOGICAL, "translators.tile")

# The longest prefix of a module's name decides.
MAY_IMPORT = {
    "intent": LANGUAGE,
    "intent.host": (*LANGUAGE, "translators"),
    "translators": FOUNDATION,
    "translators.algebra": ALGEBRA,
    "translators.logical": LOGICAL,
    "translators.tile": TILE,
    "translators.intent_source": LOGICAL,
    "translators.triton_source": TILE,
    "translators.planning": (*TILE, "translators.triton_source"),
    "translators.lifting": (*TILE, "translators.triton_source", "translators.intent_source.write"),
    "translators.comparison": (
        *TILE,
        "translators.planning",
        "translators.lifting",
        "translators.triton_source",
        "translators.intent_source",
    ),
    "translators.pipeline": ("intent", "translators"),
    "intentc": PACKAGES,
}

# Device functions are Triton source, read as text and never imported.
DEVICE = "translators/triton_source/device/"

HEAVY = ("numpy", "torch", "triton", "ml_dtypes", "scipy")
# Modules that compute with arrays; nothing else may load NumPy, and only verification ahead of time loads Triton.
COMPUTE = (
    "translators.logical.reference",
    "intent.host.reference_execution",
    "intent.host.torch_operator",
    "intentc.ahead_of_time",
    "intentc.commands.run",
    "intentc.commands.verify",
    "intentc.differential",
    "intentc.lift_interpreter",
    "intentc.lift_runner",
    "intentc.lift_shims",
    "intentc.kernel_inputs",
)

# What an extra installs, and the one module that imports it.
ONLY_IN = {
    "mcp": "intentc.serving.mcp_server", "mcp_types": "intentc.serving.mcp_server",
    "pydantic": "intentc.serving.mcp_server", "pygls": "intentc.serving.language_server",
    "lsprotocol": "intentc.serving.language_server",
}  # fmt: skip


def _modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if DEVICE in path.as_posix() and path.name != "__init__.py":
                continue
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(_modules())


def _imports(path: Path, top_level: bool = False) -> Iterator[str]:
    """Every module imported, except for type checking; functions are searched too unless `top_level`."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pending.extend(node.orelse)
            case ast.FunctionDef() if top_level:
                pass
            case _:
                pending.extend(ast.iter_child_nodes(node))


def _within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(f"{prefix}.")


def _row(module: str) -> str:
    return max((prefix for prefix in MAY_IMPORT if _within(module, prefix)), key=len)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    row = _row(module)
    allowed = (*MAY_IMPORT[row], row)
    ours = [name for name in _imports(MODULES[module]) if name.partition(".")[0] in PACKAGES]
    upward = [name for name in ours if not any(_within(name, prefix) for prefix in allowed)]
    if row == "intent":
        upward += [name for name in ours if _within(name, "intent.host")]
    assert upward == []


@pytest.mark.parametrize("module", MODULES)
def test_nothing_heavy_is_imported_for_compiling(module: str) -> None:
    if module.startswith(COMPUTE):
        pytest.skip("computes with arrays")
    heavy = [name for name in _imports(MODULES[module], top_level=True) if name.partition(".")[0] in HEAVY]
    assert heavy == []


def test_extras_are_imported_in_one_place() -> None:
    for module, path in MODULES.items():
        for name in re.findall(r"^ *(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert ONLY_IN.get(name, module) == module, (module, name)


def test_triton_source_does_not_plan() -> None:
    for module, path in MODULES.items():
        if _within(module, "translators.triton_source"):
            assert not any(_within(name, "translators.planning") for name in _imports(path))
