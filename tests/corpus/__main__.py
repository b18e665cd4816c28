"""`make corpus`: lift every kernel of the pinned packages and write docs/lift-corpus.md.

Each file has a process of its own, bounded in time and memory. Results are kept in build/corpus; a file is done again
only if it or the translator changed, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
from multiprocessing.context import ForkProcess as Child
from pathlib import Path
from typing import Any, Final

os.environ.update(TRITON_INTERPRET="1", OMP_NUM_THREADS="1", PYTHONWARNINGS="ignore")

from tests.corpus import one_file
from tests.corpus.packages import PACKAGES, SITE, Package
from tests.corpus.page import Record, write_page

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = SITE.parent
SECONDS_PER_FILE: Final = 1200
LIFT_ONLY: Final = "-lift-only"
FORK: Final = multiprocessing.get_context("fork")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", help="this package only (repeatable)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--lift-only", action="store_true", help="compare nothing that was not compared before")
    parser.add_argument("--page", action="store_true", help="write the page from what was done before")
    arguments = parser.parse_args()
    version = _version() + (LIFT_ONLY if arguments.lift_only else "")
    records: dict[str, list[Record]] = {}
    for package in PACKAGES:
        package.install()
        wanted = not arguments.page and (not arguments.package or package.name in arguments.package)
        records[package.name] = _run(package, version, arguments.jobs) if wanted else _known(package)
    write_page(ROOT / "docs" / "lift-corpus.md", records, {package.name: _coverage(package) for package in PACKAGES})


def _version() -> str:
    """Of the translator: of every file that a lift or its check depends on."""
    made = hashlib.sha256()
    for folder in ("intent", "translators", "intentc", "tests/corpus"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            made.update(path.read_bytes())
    return made.hexdigest()[:16]


def _result(package: Package, path: Path) -> Path:
    inside = path.relative_to(package.directory).as_posix().replace("/", "+")
    return BUILD / "results" / package.name / f"{inside}.json"


def _coverage(package: Package) -> tuple[int, int]:
    """(files that are done, all files)."""
    results = [_result(package, path).exists() for path in package.files()]
    return sum(results), len(results)


def _known(package: Package) -> list[Record]:
    results = [_result(package, path) for path in package.files()]
    return [record for each in results if each.exists() for record in _read(each)]


def _read(result: Path) -> list[Record]:
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    records: list[Record] = found["records"]
    return records


def _run(package: Package, version: str, jobs: int) -> list[Record]:
    """Every file in a process of its own, which is a copy of this one: it has Triton loaded."""
    waiting = [path for path in package.files() if not _done(package, path, version)]
    total = len(waiting)
    running: dict[Path, tuple[Child, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            path = waiting.pop(0)
            running[path] = (_started(package, path, version), time.monotonic())
        time.sleep(0.02)
        for path in [path for path, each in running.items() if _ended(*each)]:
            running.pop(path)[0].join()
            _keep(package, path, version)
            left = len(waiting) + len(running)
            print(f"\r{package.name}: {total - left} of {total} files", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return _known(package)


def _ended(child: Child, begin: float) -> bool:
    if time.monotonic() - begin > SECONDS_PER_FILE:
        child.kill()
    return not child.is_alive()


def _done(package: Package, path: Path, version: str) -> bool:
    result = _result(package, path)
    return result.exists() and json.loads(result.read_text(encoding="utf-8"))["version"] == version


def _started(package: Package, path: Path, version: str) -> Child:
    fresh = _result(package, path).with_suffix(".new")
    fresh.unlink(missing_ok=True)
    child = FORK.Process(target=one_file.run, args=(path, fresh, BUILD / "compared", not version.endswith(LIFT_ONLY)))
    child.start()
    return child


def _keep(package: Package, path: Path, version: str) -> None:
    result = _result(package, path)
    fresh = result.with_suffix(".new")
    inside = path.relative_to(package.directory).as_posix()
    if fresh.exists():
        records = [{"file": inside, **record} for record in json.loads(fresh.read_text(encoding="utf-8"))]
        fresh.unlink()
    else:
        records = [{"file": inside, "kernel": "", "status": "crash", "reason": "the process failed or was too slow"}]
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({"version": version, "records": records}), encoding="utf-8")


if __name__ == "__main__":
    main()
