"""Writes the generated module: one Python file that needs torch, triton and numpy only.

In: the logical program (names, docstrings) and the planner's `KernelCode` of every kernel, whose device functions are
final text. Out: the module's text, formatted as `ruff format --line-length 120` would. What the device functions
compute is not this file's business; `module_runtime` has the text that all modules share, `module_kernels` the rest.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Sequence

from intent.dtypes import DType
from translators.logical.program import Program
from translators.logical.types import View
from translators.triton_source.composition_runtime import AFTER_COMPOSITIONS, BEFORE_COMPOSITIONS
from translators.triton_source.host_transfers import MOVES
from translators.triton_source.launch import KernelCode
from translators.triton_source.module_composition import Composer
from translators.triton_source.module_docstring import module_docstring
from translators.triton_source.module_kernels import device_functions, host_text, needs_size_keywords, planned_scalars
from translators.triton_source.module_layout import collection, string
from translators.triton_source.module_names import KernelNames, composition_names, module_names
from translators.triton_source.module_options import DEFAULT, ModuleOptions
from translators.triton_source.module_runtime import AFTER_KERNELS, BEFORE_KERNELS, definitions, needed
from translators.triton_source.module_selfcheck import self_check

__all__ = ["ModuleOptions", "write_host_runtime", "write_module"]

_CONSTANT = re.compile(r"(# .*\n)?_[A-Z]+ = ")
_LOW_PRECISION = ("bf16", "f8e4m3fn", "f8e5m2")
_IMPORTS = (
    ("collections[.]d", "import collections"),
    ("contextlib[.]", "import contextlib"),
    ("contextvars[.]", "import contextvars"),
    ("functools[.]", "import functools"),
    ("itertools[.]", "import itertools"),
    ("math[.]", "import math"),
    ("numbers[.]", "import numbers"),
    ("os[.]", "import os"),
    ("sys[.]", "import sys"),
    ("threading[.]", "import threading"),
    ("types[.]", "import types"),
    ("weakref[.]", "import weakref"),
    ("Callable\\b", "from collections.abc import Callable"),
    ("NamedTuple\\b", "from typing import NamedTuple"),
)


def write_module(program: Program, codes: Sequence[KernelCode], options: ModuleOptions = DEFAULT) -> str:
    """The whole text of the generated module."""
    all_names = module_names(codes, options.arm, program.host)
    pairs = list(zip(codes, all_names, strict=True))
    composer = _composer(program, pairs, options)
    features = _features(pairs, options, composer)
    device = [text for code, names in pairs for text in device_functions(code, names)]
    prepared = composer.prepared if composer else frozenset()
    host = [text for code, names in pairs for text in host_text(code, names, code.kernel.name in prepared)]
    host += composer.texts() if composer else []
    checks = self_check(pairs, options, features)
    composed_after, composed_before = (AFTER_COMPOSITIONS, BEFORE_COMPOSITIONS) if composer else ((), ())
    shared = MOVES if options.host_runtime else ()
    pieces = [piece for piece in (*composed_after, *AFTER_KERNELS) if piece not in shared]
    after = needed(tuple(pieces), "\n".join([*host, *checks]), features)
    before = needed((*BEFORE_KERNELS, *composed_before), "\n".join([*host, *after, *checks]), features)
    body = [*dict.fromkeys(device), *before, *host, *after, *checks]
    public = [*(composer.names.public if composer else ()), *(names.public for names in all_names)]
    exported = collection("__all__ = [", [string(name) for names in public for name in names.all], "]")
    imports = _imports("\n".join(body), composer.host.imports if composer else ())
    if shared and (names := _mentioned(MOVES, "\n".join(body))):
        imports += f"\n\nfrom {options.host_runtime} import {', '.join(names)}"
    head = [module_docstring(program, pairs, options, composer) + "\n" + imports, exported]
    return "\n\n".join(head) + "\n\n\n" + _spaced(body)


_HOST_RUNTIME = '''"""Moves NumPy arrays to the device and back, for generated modules that import it."""'''


def write_host_runtime() -> str:
    """The text of a module that generated modules may import what moves arrays from: `ModuleOptions.host_runtime`."""
    features = frozenset({"host", "low"})
    texts = needed(AFTER_KERNELS, "\n".join(name for piece in MOVES for name in definitions(piece)), features)
    body = [*needed(BEFORE_KERNELS, "\n".join(texts), features), *texts]
    imports = _imports("\n".join(body), ())
    return f"{_HOST_RUNTIME}\n\n{imports}\n\n\n{_spaced(body)}"


def _mentioned(pieces: Sequence[str], text: str) -> list[str]:
    """Which names that the pieces define occur in a text."""
    names = {name for piece in pieces for name in definitions(piece)}
    return sorted(name for name in names if re.search(rf"\b{name}\b", text))


def _composer(
    program: Program, pairs: Sequence[tuple[KernelCode, KernelNames]], options: ModuleOptions
) -> Composer | None:
    if program.host is None:
        return None
    names = composition_names([code for code, _ in pairs], options.arm, program.host)
    return Composer(program.host, names, {code.kernel.name: each for code, each in pairs})


def _features(
    pairs: Sequence[tuple[KernelCode, KernelNames]], options: ModuleOptions, composer: Composer | None
) -> frozenset[str]:
    """The words that select lines of the shared part."""
    codes = [code for code, _ in pairs]
    views = [view for code in codes for view in code.kernel.views]
    facts = {
        "host": options.arm != "device",
        "device": options.arm != "host" or composer is not None,
        "composed": composer is not None,
        "scalars": any(code.kernel.scalars for code in codes),
        "scratch": any(code.scratch for code in codes),
        "bytes": any(dtype.name.startswith("f8") for code in codes for dtype in _memory_types(code)),
        "requirements": any(code.requirements for code in codes),
        "planned": any(planned_scalars(code, names) for code, names in pairs),
        "outonly": any(needs_size_keywords(code) for code in codes),
        "same": any(code.overlap == "same" for code in codes),
        "snapshot": any(code.overlap == "snapshot" for code in codes),
        "described": any(variant.described for code in codes for variant in code.variants),
        **_view_features(views),
    }
    return frozenset(name for name, holds in facts.items() if holds)


def _memory_types(code: KernelCode) -> list[DType]:
    return [view.dtype for view in code.kernel.views] + [scratch.dtype for scratch in code.scratch]


def _view_features(views: Sequence[View]) -> dict[str, bool]:
    return {
        "low": any(view.dtype.name in _LOW_PRECISION for view in views),
        "strides": any(view.strides is not None for view in views),
        "namedstrides": any(isinstance(stride, str) for view in views for stride in view.strides or ()),
        "alias": any(view.alias for view in views),
        "noalias": any(view.noalias for view in views),
    }


def _imports(body: str, more: Sequence[str]) -> str:
    """Those of the module's own parts, and those of host code."""
    standard = [line for word, line in _IMPORTS if _mentions(word, body)]
    numpy = ["import numpy as np"] if _mentions(r"np\.", body) else []
    triton = ["import triton", "import triton.language as tl"] if _mentions("(triton|tl)[.]", body) else []
    others = [*numpy, "import torch", *triton]
    packages = {line: line.split(" ")[1].partition(".")[0] for line in more}
    standard += [line for line in more if packages[line] in sys.stdlib_module_names and line not in standard]
    others += [line for line in more if packages[line] not in sys.stdlib_module_names and line not in others]
    return "\n".join([*sorted(standard, key=_import_order), "", *sorted(others, key=_import_order)])


def _mentions(pattern: str, body: str) -> bool:
    """Whether a pattern that begins with a name occurs at the start of a name. Looking behind only where it occurs is
    much faster than in the pattern.
    """
    return any(re.match(r"[\w.]", body[found.start() - 1]) is None for found in re.finditer(pattern, body))


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line.split(" ")[1]


def _spaced(body: Sequence[str]) -> str:
    """Two blank lines around definitions, one between constants that follow each other."""
    text = body[0]
    for before, piece in itertools.pairwise(body):
        close = _CONSTANT.match(before.splitlines()[-1]) and _CONSTANT.match(piece)
        text += ("\n" if close else "\n\n\n") + piece
    return text + "\n"
