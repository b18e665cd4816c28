"""`make corpus`: lift every kernel of the pinned packages and write docs/lift-corpus.md.

    python -m tests.corpus --pack FILE        the packages' sources in one archive, for a machine without a network
    python -m tests.corpus --unpack FILE      take them from there, and go on

Each kernel has a process of its own, bounded in time and memory. Results are kept in build/corpus; a kernel is done
again only if its file or the translator changed, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing.context import ForkProcess as Child
from pathlib import Path
from typing import Any, Final

os.environ.update(TRITON_INTERPRET="1", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore", CUDA_VISIBLE_DEVICES="")

from intent.records import dataclass
from tests.corpus import one_kernel
from tests.corpus.packages import PACKAGES, ROOT, SITE, Package, pack, translator_version, unpack
from tests.corpus.page import Record, write_page
from translators.triton_source.read.source import read_file

BUILD: Final = SITE.parent
RESULTS, COMPARED = BUILD / "results", BUILD / "compared"
LIFT_ONLY: Final = "-lift-only"
FORK: Final = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Job:
    """One kernel; without a name, a file that could not be read in time."""

    package: Package
    path: Path
    kernel: str

    @property
    def inside(self) -> str:
        return self.path.relative_to(self.package.directory).as_posix()

    @property
    def result(self) -> Path:
        return RESULTS / self.package.name / f"{self.inside.replace('/', '+')}+{self.kernel}.json"

    def record(self) -> Record | None:
        return _read(self.result)["record"] if self.result.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", help="this package only (repeatable)")
    parser.add_argument("--file", action="append", default=[], help="only files whose path has this in it (repeatable)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no kernel after so long")
    parser.add_argument("--clean", action="store_true", help="forget earlier results")
    parser.add_argument("--lift-only", action="store_true", help="compare nothing that was not compared before")
    parser.add_argument("--page", action="store_true", help="write the page from what was done before")
    parser.add_argument("--pack", type=Path, metavar="FILE")
    parser.add_argument("--unpack", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.unpack:
        unpack(arguments.unpack)
    chosen = [package for package in PACKAGES if _wanted(package, arguments.package)]
    for package in chosen:
        package.install()
    if arguments.pack:
        pack(arguments.pack, chosen)
        return
    if arguments.clean:
        for each in (RESULTS, COMPARED):
            shutil.rmtree(each, ignore_errors=True)
    version = translator_version(Path(one_kernel.__file__)) + (LIFT_ONLY if arguments.lift_only else "")
    every = {package.name: list(_jobs(package)) for package in PACKAGES if package.directory.is_dir()}
    if not arguments.page:
        wanted = [job for each in chosen for job in every[each.name] if _of_files(job, arguments.file)]
        _run(wanted, version, arguments.jobs, time.monotonic() + arguments.seconds)
    records = {name: [job.record() for job in jobs] for name, jobs in every.items()}
    done = {name: [record for record in each if record is not None] for name, each in records.items()}
    write_page(
        ROOT / "docs" / "lift-corpus.md", done, {name: (len(done[name]), len(jobs)) for name, jobs in every.items()}
    )


def _jobs(package: Package) -> Iterator[Job]:
    for path in package.files():
        try:
            with one_kernel.bounded_time():
                kernels = read_file(path.read_text(encoding="utf-8", errors="replace"), str(path)).kernels
        except SyntaxError:
            continue
        except TimeoutError:
            yield Job(package, path, "")
            continue
        for name in dict.fromkeys(each.name for each in kernels):
            yield Job(package, path, name)


def _wanted(package: Package, named: Sequence[str] | None) -> bool:
    return package.name in named if named else not package.on_request


def _of_files(job: Job, parts: Sequence[str]) -> bool:
    return not parts or any(part in job.inside for part in parts)


def _read(result: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    return found


def _run(jobs: Sequence[Job], version: str, count: int, end: float) -> None:
    """Every kernel in a process of its own, which is a copy of this one: it has Triton loaded."""
    waiting = [job for job in jobs if not (job.result.exists() and _read(job.result)["version"] == version)]
    total, waiting = len(waiting), waiting[::-1]
    running: dict[Job, tuple[Child, float]] = {}
    while (waiting and time.monotonic() < end) or running:
        while waiting and len(running) < count and time.monotonic() < end:
            job = waiting.pop()
            running[job] = (_started(job, version), time.monotonic())
        time.sleep(0.02)
        for job in [job for job, each in running.items() if _ended(*each)]:
            running.pop(job)[0].join()
            _keep(job, version)
            finished = total - len(waiting) - len(running)
            if finished % 20 == 0 or finished == total:
                print(f"{finished} of {total} kernels", file=sys.stderr, flush=True)
    if waiting:
        print(f"{len(waiting)} kernels are left for another run", file=sys.stderr)


def _ended(child: Child, begin: float) -> bool:
    if time.monotonic() - begin > one_kernel.SECONDS_IN_ALL:
        child.kill()
    return not child.is_alive()


def _started(job: Job, version: str) -> Child:
    fresh = job.result.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    arguments = (job.path, job.kernel, fresh, COMPARED, not version.endswith(LIFT_ONLY))
    child = FORK.Process(target=one_kernel.run, args=arguments)
    child.start()
    return child


def _keep(job: Job, version: str) -> None:
    fresh = job.result.with_suffix(".new")
    record: Record = {"kernel": job.kernel, "status": "crash", "reason": "the process failed or was too slow"}
    if fresh.exists():
        record = _read(fresh)
        fresh.unlink()
    job.result.parent.mkdir(parents=True, exist_ok=True)
    kept = {"version": version, "record": {"file": job.inside, **record}}
    job.result.write_text(json.dumps(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
