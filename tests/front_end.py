"""Triton's front end on generated modules: types that the CPU interpreter does not check.

    python -m tests.front_end FIRST COUNT [--workers N]      the random programs of these seeds
    python -m tests.front_end                                what tests ask for, as JSON from standard input

Only the first stage of compiling runs, which takes a tenth of a second; it needs no GPU. The interpreter runs a kernel
as Python and lets a name change its type between branches and rounds of a loop, which no target does.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
TARGET = ("cuda", 90, 32)


def problems(text: str, name: str, constexprs: Mapping[str, object] | None = None) -> Iterator[str]:
    """What Triton says against each variant of the file's kernels, with coordinates of 32 and of 64 bits."""
    import triton.language as tl

    from intentc import ahead_of_time, differential
    from translators.options import Options
    from translators.pipeline import compile_text

    compilation = compile_text(text, name, Options(constexprs=dict(constexprs or {})))
    if compilation.source is None:
        return
    namespace = vars(differential.load_module(compilation.source))
    for job in ahead_of_time.jobs(compilation, [f"{TARGET[0]}:{TARGET[1]}"], ahead_of_time.FORMS[:1]):
        for index in (tl.int32, tl.int64) if "INDEX" in job.constants else (tl.int32,):
            constants = job.constants | {"INDEX": index} if "INDEX" in job.constants else job.constants
            try:
                _lower(namespace[job.function], job.signature, constants, ahead_of_time.attributes(job))
            except Exception as problem:  # whatever Triton raises is the finding
                yield f"{job.function} ({index}): {problem}"


@functools.cache
def _backend() -> tuple[object, object]:
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    backend = make_backend(GPUTarget(*TARGET))
    return backend, backend.parse_options({})


def _lower(function: object, signature: Mapping[str, str], constants: Mapping[str, object], attributes: object) -> None:
    """What `triton.compile` does first."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    backend, options = _backend()
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)  # type: ignore[attr-defined]
    source = ASTSource(function, dict(signature), dict(constants), attributes)
    functions = backend.get_codegen_implementation(options)  # type: ignore[attr-defined]
    modules = backend.get_module_map()  # type: ignore[attr-defined]
    source.make_ir(GPUTarget(*TARGET), options, functions, modules, context)


# ------------------------------------------------------------------------------------------------------ from the tests
Program = tuple[str, str, Mapping[str, object]]  # name, text, constexprs


def found_elsewhere(programs: Sequence[Program]) -> list[str]:
    """The problems of all these, from a process that does not interpret."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    child = subprocess.run(
        [sys.executable, "-m", "tests.front_end"],
        input=json.dumps(programs),
        capture_output=True,
        text=True,
        env=environment,
        cwd=HERE.parent,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    lines: list[str] = json.loads(child.stdout)
    return lines


def _answer() -> None:
    lines = [
        f"{name}: {line}"
        for name, text, constexprs in json.load(sys.stdin)
        for line in problems(text, f"{name}.py", constexprs)
    ]
    print(json.dumps(lines))


# ---------------------------------------------------------------------------------------------------- random programs
def of_seed(seed: int) -> list[str]:
    from generators import random_program

    return list(problems(random_program(Random(seed)).text, f"seed_{seed}.py"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if options.first is None:
        _answer()
        return 0
    seeds = range(options.first, options.first + options.count)
    wrong = 0
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for seed, found in zip(seeds, pool.imap(of_seed, seeds), strict=True):
            wrong += bool(found)
            for line in found:
                print(f"seed {seed}: {line}", flush=True)
    print(f"{options.count} programs, {wrong} with problems")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
