"""Verification of a lift: the original and the recompiled kernel side by side on random shapes, in a child process.

The user's code runs only there, under Triton's interpreter, with a bound on time and memory. Only the kernel, the
device functions, and constants of its file are taken along: no host code, no autotuning.
"""

from __future__ import annotations

import ast
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from translators.lifting.correspondence import CallSizes, Correspondence, draw
from translators.lifting.files import source_of
from translators.lifting.lift import Lifted
from translators.options import Options
from translators.pipeline import compile_text

CALLS: Final = 5
SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Verification:
    """On how many random shapes both kernels agreed; `reason` says why they could not be compared."""

    calls: int
    agreed: int
    reason: str | None = None

    @property
    def holds(self) -> bool:
        return self.reason is None and self.calls > 0 and self.agreed == self.calls

    def __str__(self) -> str:
        if self.reason is not None:
            return f"not verified: {self.reason}"
        return f"agreed on {self.agreed} of {self.calls} random shapes under the interpreter"


def verify(text: str, path: str, kernel: Lifted, calls: int = CALLS) -> Verification:
    """Compare one lifted kernel with its original."""
    correspondence = kernel.correspondence
    if correspondence is None or kernel.source is None:
        return Verification(0, 0, "it is not lifted")
    drawn = _drawn(correspondence, calls)
    if not drawn:
        return Verification(0, 0, "no sizes meet what the lift assumes")
    source = source_of((kernel,), path)
    assert source is not None
    groups = {name: drawn[0].numbers[name] for name in correspondence.groups}
    module = compile_text(source, path, Options(constexprs=groups)).source
    if module is None:
        return Verification(0, 0, "the lifted kernel does not compile")
    return _run(sliced(text), module, kernel, drawn)


def _drawn(correspondence: Correspondence, calls: int) -> list[CallSizes]:
    """Random calls; the size of a kept group is a constant of the lifted kernel, so it is the same in all of them."""
    generator = random.Random(1)
    found: list[CallSizes] = []
    for _ in range(8 * calls):
        call = draw(correspondence, generator)
        if call is None or len(found) == calls:
            break
        same = all(call.numbers[name] == found[0].numbers[name] for name in correspondence.groups) if found else True
        found.extend((call,) if same else ())
    return found


def _run(original: str, module: str, kernel: Lifted, calls: Sequence[CallSizes]) -> Verification:
    with tempfile.TemporaryDirectory() as directory:
        paths = {name: Path(directory) / f"{name}.py" for name in ("original", "module")}
        paths["original"].write_text(original, encoding="utf-8")
        paths["module"].write_text(module, encoding="utf-8")
        request = _request(kernel, {name: str(path) for name, path in paths.items()}, calls)
        command = [sys.executable, str(Path(__file__).parent / "lift_runner.py")]
        environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        try:
            done = subprocess.run(
                command, input=json.dumps(request), capture_output=True, text=True, timeout=SECONDS, env=environment
            )
        except subprocess.TimeoutExpired:
            return Verification(len(calls), 0, f"it took longer than {SECONDS} seconds")
    if done.returncode != 0:
        return Verification(len(calls), 0, (done.stderr.strip().splitlines() or ["the process failed"])[-1])
    results = json.loads(done.stdout)
    return Verification(len(calls), sum(bool(each["equal"]) for each in results))


def _request(kernel: Lifted, paths: dict[str, str], calls: Sequence[CallSizes]) -> dict[str, Any]:
    correspondence = kernel.correspondence
    assert correspondence is not None and kernel.source is not None
    arrays = [
        {"pointer": each.pointer, "name": each.name, "dtype": each.dtype.name, "written": each.written}
        for each in correspondence.arrays
    ]
    return {
        **paths,
        "kernel": kernel.name,
        "lifted": kernel.source.name,
        "arrays": arrays,
        "order": list(correspondence.order),
        "calls": list(map(asdict, calls)),
    }


# ------------------------------------------------------------------------------------------------------------- slicing
def sliced(text: str) -> str:
    """The device functions of a file with what they need: imports of Triton and PyTorch, and constants."""
    kept = list(_kept(ast.parse(text).body))
    used = {name for statement in kept if not _is_constant(statement) for name in _names(statement)}
    body: list[ast.stmt] = []
    for statement in reversed(kept):  # a constant stands before what uses it
        if not _is_constant(statement) or used & _targets(statement):
            body.insert(0, statement)
            used |= _names(statement)
    return ast.unparse(ast.Module(body=body, type_ignores=[])) + "\n"


def _kept(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.FunctionDef(decorator_list=decorators):
                jit = [each for each in decorators if ast.unparse(each).split("(")[0].endswith("jit")]
                if jit:
                    statement.decorator_list = jit[:1]
                    yield statement
            case ast.Import() | ast.ImportFrom() if _harmless(statement):
                yield statement
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if _constant(value):
                yield statement
            case ast.If(body=inner) | ast.Try(body=inner):
                yield from _kept(inner)
            case _:
                pass


def _is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign)


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _targets(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _harmless(statement: ast.Import | ast.ImportFrom) -> bool:
    modules = (
        [statement.module or ""] if isinstance(statement, ast.ImportFrom) else [each.name for each in statement.names]
    )
    return all(module.split(".")[0] in ("triton", "torch", "math", "os", "numpy") for module in modules)


def _constant(value: ast.expr) -> bool:
    """Literals, names of Triton's, and `tl.constexpr(...)` of them."""
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).endswith("constexpr")
    return not any(isinstance(node, ast.Call | ast.Lambda) for node in ast.walk(value))
