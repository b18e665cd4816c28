"""Compiles the kernels of a file for a GPU that need not be present, and prints what the assembly contains, as JSON.

Usage: python compile_device_kernels.py FILE TARGET, where TARGET is cuda:90 or hip:gfx942. It runs in a process of its
own: one that has imported triton for the CPU interpreter cannot compile. The file has SIGNATURES, by kernel.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from types import ModuleType

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("device_kernels_under_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def gpu(text: str) -> GPUTarget:
    backend, architecture = text.split(":")
    return GPUTarget("cuda", int(architecture), 32) if backend == "cuda" else GPUTarget("hip", architecture, 64)


def compile_one(module: ModuleType, name: str, target: GPUTarget) -> dict[str, object]:
    signature = {**module.SIGNATURES[name], "BLOCK": "constexpr"}
    source = ASTSource(getattr(module, name), signature, {"BLOCK": 128})
    try:
        assembly = triton.compile(source, target=target).asm
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:2000]}
    text = assembly.get("ptx") or assembly["amdgcn"]
    return {"flushing": sorted(set(re.findall(r"\b[a-z0-9.]+\.ftz[a-z0-9.]*", text))),
            "approximate": sorted(set(re.findall(r"\b[a-z0-9.]+\.approx[a-z0-9.]*", text)))}  # fmt: skip


def main() -> None:
    module = load(sys.argv[1])
    target = gpu(sys.argv[2])
    print(json.dumps({name: compile_one(module, name, target) for name in module.SIGNATURES}))


if __name__ == "__main__":
    main()
