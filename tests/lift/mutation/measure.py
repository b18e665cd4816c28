"""What comparison says of mutants, against what running them says.

    python -m tests.lift.mutation.measure [--limit N] [--jobs N] [--seconds S] [FILE...]

goes over the ladder of public kernels (as far as `tests.corpus` has installed them), all kernels that are written by
hand and those of all modules, and writes `record.json` beside this file and `docs/mutants.md`. A run that is
interrupted, or ends after `--seconds` (and two minutes for kernels that were begun), goes on where it stopped.

Every mutant is compared with its original, and both run on random shapes under Triton's interpreter. A `same` for a
pair whose outputs differ would be the worst of all faults; there must be none.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path

from intent.records import asdict, dataclass, replace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from intentc.lift_slices import sliced
from tests.corpus.ladder import LADDER
from tests.corpus.one_kernel import bounded_time
from tests.corpus.packages import PACKAGES, translator_version
from tests.lift.mutation.mutants import MEANINGFUL, NEUTRAL, Mutant, mutants
from tests.lift.mutation.page import page
from translators.comparison.sides import NoSide, Side, read_sides
from translators.comparison.verdict import compare
from translators.lifting.correspondence import CallSizes, Correspondence, draw
from translators.triton_source.read.source import read_file

ROOT = Path(__file__).resolve().parents[3]
RECORD = Path(__file__).parent / "record.json"
PAGE = ROOT / "docs" / "mutants.md"
CALLS = 5
LARGE_CALLS = 2
FEW_PROGRAMS = 8  # of a call, where sizes can be so small: a mutant costs what its programs cost
DRAWS = 6
SECONDS = 300
GRACE = 120  # seconds after which kernels that are not done are left for the next run
BUILD = ROOT / "build" / "mutants"
ENVIRONMENT = {
    **os.environ, "TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
    "CUDA_VISIBLE_DEVICES": "",
}  # fmt: skip
KINDS = (*MEANINGFUL, *NEUTRAL)
FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant, what comparison says of it, and what running it showed: equal, close, differs, or failed."""

    file: str
    mutant: Mutant
    answer: str
    reason: str
    outcome: str

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


def kernels(path: Path) -> list[str]:
    """Of a file: names of the functions that are compiled by Triton."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node.name for node in functions if any("jit" in ast.unparse(each) for each in node.decorator_list)]


def judge(path: Path, kernel: str, count: int) -> list[Judged]:
    """Some mutants of a kernel, always the same; none if the kernel itself does not lift or run."""
    text = path.read_text(encoding="utf-8", errors="replace")
    side = _side(text, path, kernel)
    calls = _calls(side) if side is not None else []
    name = f"{path.parent.name}/{path.name}"
    wanted = _chosen(list(mutants(text, kernel)), random.Random(f"{name} {kernel}"), count)
    if side is None or not calls or not wanted:
        return []
    outcomes = _outcomes(text, path, side, wanted, calls)
    if "failed" in outcomes:
        print(f"{name}: '{kernel}' itself does not run: {outcomes['failed']}", file=sys.stderr)
        return []
    answers = [_answer(side, mutant, path) for mutant in wanted]
    return [
        Judged(name, mutant, *answer, outcomes.get(str(number), "failed"))
        for number, (mutant, answer) in enumerate(zip(wanted, answers, strict=True))
    ]


def _chosen(every: Sequence[Mutant], generator: random.Random, count: int) -> list[Mutant]:
    """As many of each kind as there are, in turn; in the order of the file."""
    kinds: dict[str, list[int]] = {}
    for place in generator.sample(range(len(every)), len(every)):
        kinds.setdefault(every[place].kind, []).append(place)
    turns = [place for turn in zip_longest(*kinds.values()) for place in turn if place is not None]
    return [every[place] for place in sorted(turns[:count])]


def _side(text: str, path: Path, kernel: str) -> Side | None:
    try:
        with bounded_time():
            return next(iter(read_sides(text, str(path), kernel, {})), None)
    except (NoSide, TimeoutError):
        return None


def _answer(side: Side, mutant: Mutant, path: Path) -> tuple[str, str]:
    """What comparison says, and why."""
    try:
        with bounded_time():
            others = read_sides(mutant.text, str(path), mutant.kernel, {})
            if not others:
                return "could not tell", "the kernel is gone"
            verdict = compare(side, others[0])
    except NoSide as found:
        return "could not tell", found.reason
    except TimeoutError:
        return "could not tell", "it took too long"
    return verdict.answer, verdict.reason or str(verdict.difference or "")


def _calls(side: Side) -> list[CallSizes]:
    assert side.origin is not None
    correspondence = side.origin.lifted.correspondence
    assert correspondence is not None
    free = set(correspondence.blocks) - correspondence.fixed
    small = {name: value for name, value in correspondence.constants.items() if name not in free}
    correspondence = replace(correspondence, constants=small)  # blocks of a few elements, so that there are several
    generator = random.Random(1)
    drawn = [_drawn(correspondence, generator, number >= CALLS - LARGE_CALLS) for number in range(CALLS)]
    return [call for call in drawn if call is not None]


def _drawn(correspondence: Correspondence, generator: random.Random, large: bool) -> CallSizes | None:
    """Of some draws the one of most programs that are not many; a large size that needs many is none."""
    found: list[tuple[int, CallSizes]] = []
    for _ in range(DRAWS):
        call = draw(correspondence, generator, large, enough=FEW_PROGRAMS)
        if call is not None:
            found.append((math.prod(call.grid), call))
        if call is None or found[-1][0] > FEW_PROGRAMS:
            break  # it is the best of many already
    few = [each for each in found if each[0] <= FEW_PROGRAMS]
    if not few and large:
        return _drawn(correspondence, generator, False)
    return max(few, key=itemgetter(0))[1] if few else min(found, key=itemgetter(0))[1] if found else None


def _outcomes(
    text: str, path: Path, side: Side, wanted: Sequence[Mutant], calls: Sequence[CallSizes]
) -> dict[str, str]:
    assert side.origin is not None
    correspondence = side.origin.lifted.correspondence
    assert correspondence is not None
    with tempfile.TemporaryDirectory() as directory:
        original = _sliced(text, path, side.name, Path(directory) / "original")
        requests: dict[str, dict[str, object]] = {}
        for number, mutant in enumerate(wanted):
            made = _sliced(mutant.text, path, side.name, Path(directory) / f"mutant{number}")
            requests[str(number)] = {"path": str(made), "names": _names(text, mutant)}
        request = {
            "original": str(original),
            "kernel": side.name,
            "unused": list(correspondence.unused),
            "arrays": [
                {"pointer": each.pointer, "dtype": each.dtype.name, "ascending": each.ascending}
                for each in correspondence.arrays
            ],
            "calls": list(map(asdict, calls)),
            "mutants": requests,
        }
        done = subprocess.run(
            [sys.executable, str(Path(__file__).parent / "runner.py")],
            input=json.dumps(request), capture_output=True, text=True, timeout=SECONDS, env=ENVIRONMENT, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-2000:])
    outcomes: dict[str, str] = json.loads(done.stdout)
    return outcomes


def _sliced(text: str, path: Path, kernel: str, directory: Path) -> Path:
    """The kernel with what it needs, in a directory of its own; gives the file that holds it."""
    directory.mkdir()
    texts = sliced(read_file(text, str(path)), kernel)
    for name, each in texts.items():
        (directory / f"{name}.py").write_text(each, encoding="utf-8")
    shutil.copy(ROOT / "intentc" / "lift_shims.py", directory)
    return directory / f"{next(iter(texts))}.py"


def _names(text: str, mutant: Mutant) -> dict[str, str]:
    """What the original's parameters are called in the mutant."""

    def parameters(source: str) -> list[str]:
        tree = ast.parse(source)
        node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == mutant.kernel)
        return [each.arg for each in node.args.args]

    return dict(zip(parameters(text), parameters(mutant.text), strict=True))


# ------------------------------------------------------------------------------------------------------- all of them
def table(found: Sequence[Judged]) -> dict[str, dict[str, int]]:
    """Counts: what is said of mutants, by whether the change is neutral and what running showed."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        kind = "neutral" if each.mutant.neutral else "meaningful"
        counts.setdefault(f"{kind}, outputs {each.outcome.partition(':')[0]}", Counter())[each.answer] += 1
    return {key: dict(sorted(value.items())) for key, value in sorted(counts.items())}


def record(found: Sequence[Judged], left: int, failed: Sequence[str]) -> dict[str, object]:
    """What is kept of a run: `left` counts kernels that were not judged yet."""
    said = [
        f"{each.file} {each.mutant.kernel}, line {each.mutant.line}: {each.mutant.what}: {each.answer}, "
        f"outputs {each.outcome}: {each.reason[:200]}"
        for each in found
        if each.wrong or (each.mutant.neutral and each.outcome == "equal" and not each.answer.startswith("same"))
    ]
    return {
        "mutants": len(found),
        "wrong": sum(each.wrong for each in found),
        "left": left,
        "failed": sorted(failed),
        "counts": table(found),
        "kinds": {kind: said_of(each for each in found if each.mutant.kind == kind) for kind in KINDS},
        "kernels": sorted({f"{each.file} {each.mutant.kernel}" for each in found}),
        "to look at": said,
    }


def said_of(found: Iterable[Judged]) -> dict[str, int]:
    """Counts of some mutants: by what is said where outputs are alike, and where they are not."""
    counts = Counter(
        f"{'same' if each.answer.startswith('same') else each.answer}, "
        f"outputs {'equal' if each.outcome in ('equal', 'close') else 'differ'}"
        for each in found
    )
    return dict(sorted(counts.items()))


def _job(path: Path, kernel: str, count: int, result: Path) -> None:
    """In a process of its own."""
    failed: str | None = None
    found: list[Judged] = []
    try:
        found = judge(path, kernel, count)
    except Exception as error:  # a fault of ours, which the record shows
        failed = f"{type(error).__name__}: {error}"
    result.write_text(json.dumps({"failed": failed, "judged": [asdict(each) for each in found]}), encoding="utf-8")


def _known(result: Path) -> tuple[list[Judged], str | None]:
    """What was found of a kernel, and why nothing was."""
    found = json.loads(result.read_text(encoding="utf-8"))
    judged = [Judged(**{**each, "mutant": Mutant(**each["mutant"])}) for each in found["judged"]]
    return judged, f"{result.stem}: {found['failed'][:300]}" if found["failed"] is not None else None


Kernel = tuple[Path, str]


def _run(results: dict[Kernel, Path], limit: int, jobs: int, end: float) -> None:
    """Every kernel in a process of its own; what was found before by the same translator is kept."""
    waiting = [each for each in results if not results[each].exists()][::-1]
    running: dict[Kernel, tuple[multiprocessing.context.ForkProcess, float]] = {}
    while (waiting and time.monotonic() < end) or running:
        while waiting and len(running) < jobs and time.monotonic() < end:
            each = waiting.pop()
            results[each].parent.mkdir(parents=True, exist_ok=True)
            child = FORK.Process(target=_job, args=(*each, limit, results[each]))
            child.start()
            running[each] = (child, time.monotonic())
        time.sleep(0.05)
        for each, (child, begin) in list(running.items()):
            if time.monotonic() > min(begin + SECONDS, end + GRACE):
                child.kill()
            if not child.is_alive():
                running.pop(each)[0].join()
                print(f"{results[each].stem}: {len(waiting) + len(running)} kernels are left", file=sys.stderr)


def rungs_of() -> list[tuple[int, Path, str]]:
    """Kernels of the packages of `tests.corpus`, as far as they are installed, with the numbers of their rungs."""
    places = [(each.number, package.directory / each.file, each.kernel) for each in LADDER for package in PACKAGES]
    return [each for each in places if each[1].exists()]


def ladder() -> list[Kernel]:
    return [(path, kernel) for _, path, kernel in rungs_of()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=12, help="mutants for each kernel at most")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no kernel after so long")
    parser.add_argument("--clean", action="store_true", help="forget earlier results")
    parser.add_argument("files", nargs="*", type=Path, help="files other than all")
    arguments = parser.parse_args()
    if arguments.clean:
        shutil.rmtree(BUILD, ignore_errors=True)
    chosen = [each.resolve() for each in arguments.files]
    own = [(path, kernel) for path in chosen or files() for kernel in kernels(path)]
    wanted = own if chosen else [*ladder(), *own]
    version = translator_version(*sorted(Path(__file__).parent.glob("*.py")))
    folder = BUILD / f"{version}-{arguments.limit}"
    results = {each: folder / f"{each[0].parent.name}+{each[0].name}+{each[1]}.json" for each in wanted}
    _run(results, arguments.limit, arguments.jobs, time.monotonic() + arguments.seconds)
    known = {each: _known(result) for each, result in results.items() if result.exists()}
    found = [judged for each, _ in known.values() for judged in each]
    made = record(found, len(results) - len(known), [failed for _, failed in known.values() if failed is not None])
    if not chosen:
        rungs = {
            f"{number} {kernel}": said_of(known.get((path, kernel), ([], None))[0])
            for number, path, kernel in rungs_of()
        }
        of_ladder = [judged for each in ladder() if each in known for judged in known[each][0]]
        made = {"ladder": {"mutants": len(of_ladder), "rungs": rungs, "counts": table(of_ladder)}, **made}
        RECORD.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        PAGE.write_text(page(made), encoding="utf-8")
    print(json.dumps(made, indent=2))
    return 1 if made["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
