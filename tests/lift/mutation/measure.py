"""What comparison says of mutants, against what running them says.

    python -m tests.lift.mutation.measure [--limit N] [FILE...]

goes over all kernels that are written by hand and those of all modules, and writes `record.json` beside this file.

Every mutant is compared with its original, and both run on random shapes under Triton's interpreter. A `same` for a
pair whose outputs differ would be the worst of all faults; there must be none.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from intent.records import asdict, dataclass, replace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from intentc.lift_slices import sliced
from tests.lift.mutation.mutants import Mutant, mutants
from translators.comparison.sides import NoSide, Side, read_sides
from translators.comparison.verdict import compare
from translators.lifting.correspondence import CallSizes, draw
from translators.triton_source.read.source import read_file

ROOT = Path(__file__).resolve().parents[3]
RECORD = Path(__file__).parent / "record.json"
CALLS = 6
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant, what comparison says of it, and what running it showed: equal, close, differs, or failed."""

    file: str
    mutant: Mutant
    answer: str
    outcome: str
    reason: str = ""

    @property
    def wrong(self) -> bool:
        """A `same` that running refutes. Outputs may be close where only the order of a sum may change."""
        if not self.answer.startswith("same"):
            return False
        return self.outcome not in ("equal", "close") or (self.outcome == "close" and self.mutant.kind == "dtype")


def files() -> list[Path]:
    """Hand-written kernels, and the modules of all samples."""
    hand = [*(ROOT / "tests" / "lift").glob("*.py"), *(ROOT / "tests" / "handwritten").glob("*.py")]
    return sorted(hand) + sorted((ROOT / "golden").glob("*/module.py"))


def judge(path: Path, chosen: Sequence[Mutant] | None = None) -> Iterator[Judged]:
    """Every mutant of a file's kernels that lift, or the chosen ones."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT))
    for side in _sides(text, name):
        wanted = list(mutants(text, side.name)) if chosen is None else [m for m in chosen if m.kernel == side.name]
        calls = _calls(side)
        if not wanted or not calls:
            continue
        outcomes = _outcomes(text, side, wanted, calls)
        if "failed" in outcomes:
            print(f"{name}: '{side.name}' itself does not run: {outcomes['failed']}")
            continue
        for number, mutant in enumerate(wanted):
            answer, reason = _answer(side, mutant, name)
            yield Judged(name, mutant, answer, outcomes.get(str(number), "failed"), reason)


def _sides(text: str, name: str) -> list[Side]:
    """The kernels that lift, one by one."""
    made = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(each) for each in node.decorator_list):
            with contextlib.suppress(NoSide):
                made.extend(read_sides(text, name, node.name, {}))
    return made


def _answer(side: Side, mutant: Mutant, name: str) -> tuple[str, str]:
    try:
        others = read_sides(mutant.text, name, mutant.kernel, {})
    except NoSide as found:
        return "could not tell", found.reason
    if not others:
        return "could not tell", "the kernel is gone"
    verdict = compare(side, others[0])
    return verdict.answer, verdict.reason or str(verdict.difference or "")


def _calls(side: Side) -> list[CallSizes]:
    assert side.origin is not None
    correspondence = side.origin.lifted.correspondence
    assert correspondence is not None
    small = {name: value for name, value in correspondence.constants.items() if name not in correspondence.blocks}
    correspondence = replace(correspondence, constants=small)  # blocks of a few elements, so that there are several
    generator = random.Random(1)
    drawn = [draw(correspondence, generator, large=number > 3) for number in range(CALLS)]
    return [call for call in drawn if call is not None]


def _outcomes(text: str, side: Side, wanted: Sequence[Mutant], calls: Sequence[CallSizes]) -> dict[str, str]:
    assert side.origin is not None
    correspondence = side.origin.lifted.correspondence
    assert correspondence is not None
    with tempfile.TemporaryDirectory() as directory:
        shims = ROOT / "intentc" / "lift_shims.py"
        original = _sliced(text, side.name, Path(directory) / "original", shims)
        requests: dict[str, dict[str, object]] = {}
        for number, mutant in enumerate(wanted):
            path = _sliced(mutant.text, side.name, Path(directory) / f"mutant{number}", shims)
            requests[str(number)] = {"path": str(path), "names": _names(text, mutant)}
        request = {
            "original": str(original),
            "kernel": side.name,
            "unused": list(correspondence.unused),
            "arrays": [{"pointer": each.pointer, "dtype": each.dtype.name} for each in correspondence.arrays],
            "calls": list(map(asdict, calls)),
            "mutants": requests,
        }
        environment = {**os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "runner.py")],
            input=json.dumps(request), capture_output=True, text=True, timeout=SECONDS, env=environment, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    made: dict[str, str] = json.loads(done.stdout)
    return made


def _sliced(text: str, kernel: str, directory: Path, shims: Path) -> Path:
    """The kernel with what it needs, in a directory of its own; gives the file that holds it."""
    directory.mkdir()
    texts = sliced(read_file(text, "kernels.py"), kernel)
    for name, each in texts.items():
        (directory / f"{name}.py").write_text(each, encoding="utf-8")
    shutil.copy(shims, directory)
    return directory / f"{next(iter(texts))}.py"


def _names(text: str, mutant: Mutant) -> dict[str, str]:
    """What the original's parameters are called in the mutant."""

    def parameters(source: str) -> list[str]:
        tree = ast.parse(source)
        node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == mutant.kernel)
        return [each.arg for each in node.args.args]

    return dict(zip(parameters(text), parameters(mutant.text), strict=True))


def table(found: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Counts: what is said of mutants, by whether the change is neutral and what running showed."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        kind = "neutral" if each.mutant.neutral else "meaningful"
        counts.setdefault(f"{kind}, outputs {each.outcome.partition(':')[0]}", Counter())[each.answer] += 1
    return {key: dict(sorted(value.items())) for key, value in sorted(counts.items())}


def sample(path: Path, count: int) -> list[Mutant]:
    """Some of a file's mutants, always the same."""
    text = path.read_text(encoding="utf-8")
    every = [mutant for side in _sides(text, path.name) for mutant in mutants(text, side.name)]
    chosen = random.Random(f"{path.parent.name}/{path.name}").sample(range(len(every)), min(count, len(every)))
    return [every[place] for place in sorted(chosen)]


def record(found: Sequence[Judged]) -> dict[str, object]:
    files_seen = sorted({each.file for each in found})
    wrong = sum(each.wrong for each in found)
    return {"mutants": len(found), "wrong": wrong, "counts": table(found), "files": files_seen}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=12, help="mutants for each file at most")
    parser.add_argument("files", nargs="*", type=Path, help="files other than all")
    arguments = parser.parse_args()
    found: list[Judged] = []
    for path in [each.resolve() for each in arguments.files] or files():
        judged = list(judge(path, sample(path, arguments.limit)))
        found.extend(judged)
        for each in judged:
            if each.wrong or (each.mutant.neutral and not each.answer.startswith("same")):
                mark = "WRONG" if each.wrong else "neutral"
                print(f"{mark}: {each.file}:{each.mutant.line} {each.mutant.kernel}: {each.mutant.kind}: ", end="")
                print(f"{each.mutant.what}: {each.answer}, outputs {each.outcome}: {each.reason[:300]}")
        print(f"{path.parent.name}/{path.name}: {len(judged)} mutants, {len(found)} so far", flush=True)
        RECORD.write_text(json.dumps(record(found), indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record(found), indent=2))
    return 1 if any(each.wrong for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
