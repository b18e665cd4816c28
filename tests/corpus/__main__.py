"""`make corpus`: lift every kernel of the pinned packages and write docs/lift-corpus.md.

Each file has a process of its own, bounded in time and memory. Results are kept in build/corpus; a file is done again
only if it or the translator changed, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from tests.corpus.packages import PACKAGES, SITE, Package
from tests.corpus.page import Record, write_page

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = SITE.parent
SECONDS_PER_FILE: Final = 1200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", help="this package only (repeatable)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="write the page from what was done before")
    arguments = parser.parse_args()
    version = _version()
    records: dict[str, list[Record]] = {}
    for package in PACKAGES:
        package.install()
        wanted = not arguments.page and (not arguments.package or package.name in arguments.package)
        records[package.name] = _run(package, version, arguments.jobs) if wanted else _known(package)
    write_page(ROOT / "docs" / "lift-corpus.md", records)


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


def _known(package: Package) -> list[Record]:
    results = [_result(package, path) for path in package.files()]
    return [record for each in results if each.exists() for record in _read(each)]


def _read(result: Path) -> list[Record]:
    found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    records: list[Record] = found["records"]
    return records


def _run(package: Package, version: str, jobs: int) -> list[Record]:
    paths = list(package.files())
    with ThreadPoolExecutor(jobs) as pool:
        done = pool.map(lambda path: _one(package, path, version), paths)
        return [record for records in _counted(package, paths, done) for record in records]


def _counted(package: Package, paths: Sequence[Path], done: Any) -> Any:  # noqa: ANN401
    for position, records in enumerate(done, 1):
        print(f"\r{package.name}: {position} of {len(paths)} files", end="", file=sys.stderr, flush=True)
        yield records
    print(file=sys.stderr)


def _one(package: Package, path: Path, version: str) -> list[Record]:
    result = _result(package, path)
    if result.exists() and json.loads(result.read_text(encoding="utf-8"))["version"] == version:
        return _read(result)
    fresh = result.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.corpus.one_file", str(path), str(fresh), str(BUILD / "compared")]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS_PER_FILE)
        failure = (done.stderr.strip().splitlines() or ["the process failed"])[-1] if done.returncode else None
    except subprocess.TimeoutExpired:
        failure = f"longer than {SECONDS_PER_FILE} seconds"
    inside = path.relative_to(package.directory).as_posix()
    if failure is None:
        records = [{"file": inside, **record} for record in json.loads(fresh.read_text(encoding="utf-8"))]
    else:
        records = [{"file": inside, "kernel": "", "status": "crash", "reason": failure}]
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({"version": version, "records": records}), encoding="utf-8")
    return records


if __name__ == "__main__":
    main()
