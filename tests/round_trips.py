"""Round trips: every sample's golden module lifted back, and compared with the sample.

`golden/*/lifted.py` is what each lifts to, `golden/*/round-trip.txt` what comparing it with the sample says, and
`docs/round-trips.md` lists those that are not the same program, and why.

    python -m tests.round_trips [SAMPLE...]     examine these samples (all if none is named) and write the page

Lifting every module takes minutes, so `make golden` only examines samples whose module has changed in what lifting
reads; `tests/test_round_trips.py` lifts all of them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from intent.records import dataclass, replace
from intentc.lift_check import checked
from translators.comparison.sides import NoSide, Side, lifted_side, read_sides
from translators.comparison.variants import merged
from translators.comparison.verdict import compare
from translators.lifting.files import LiftedFile, Wanted, lift_text
from translators.lifting.launches import launches
from translators.lifting.lift import Launch
from translators.logical import program as lp
from translators.pipeline import Compilation, compile_text
from translators.triton_source.module_runtime import LAUNCH, PLAN, PRIVATE_NAMES, definitions
from translators.triton_source.read.source import read_file

ROOT = Path(__file__).resolve().parents[1]
GOLDEN, SAMPLES = ROOT / "golden", ROOT / "samples"
PAGE = ROOT / "docs" / "round-trips.md"
HEAD = """# Round trips

Samples compiled, their modules lifted back, and the result compared with the sample (`intentc compare`): {count}
samples, {same} of which come back as the same program, {reassociated} as the same up to a permitted reassociation. The
others are listed; what they lift to, as far as they do, is in `golden/*/lifted.py`. This page is generated:
`python -m tests.round_trips`.

| sample | uses | answer | why |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """`lifted` is None unless every kernel of the module is lifted; `uses` names scratch and folds."""

    sample: str
    answer: str
    reason: str
    uses: str
    lifted: str | None

    @property
    def holds(self) -> bool:
        return self.answer.startswith("same")


@cache
def round_trip(stem: str, module: str | None = None) -> RoundTrip | None:
    """Of one sample, by way of the module as it is now (or the given one); None if it is not compiled."""
    text = (SAMPLES / f"{stem}.py").read_text(encoding="utf-8")
    compiled = compile_text(text, f"{stem}.py")
    if compiled.source is None or compiled.program is None:
        return None
    module = module or compiled.source
    lifts = checked(lift_text(module, "module.py"), Wanted())
    # What is in memory for large sizes is what is on chip for others (tests/test_beyond_limits.py).
    beyond = {v.function for code in compiled.codes for v in code.variants if v.beyond}
    found = merged(module, replace(lifts, kernels=tuple(k for k in lifts.kernels if k.name not in beyond)), {})
    # A function that reads tiles through descriptors does what its plain variant does (tests/test_described_tiles.py).
    described = {v.function for code in compiled.codes for v in code.variants if v.described}
    missing = [kernel for kernel in found.kernels if kernel.source is None and kernel.name not in described]
    uses = ", ".join(_uses(compiled))
    if missing:
        return RoundTrip(stem, "could not tell", f"not lifted: {missing[0].reason}", uses, None)
    try:
        answer, reason = compared(text, module, found)
    except NoSide as error:
        return RoundTrip(stem, "could not tell", error.reason, uses, None)
    return RoundTrip(stem, answer, reason, uses, found.source)


def compared(text: str, module: str, found: LiftedFile) -> tuple[str, str]:
    """A program against what its module lifts to: the answer, and why. Raises NoSide."""
    file = read_file(module, "module.py")
    known = launches(file, {})
    lifted = [kernel for kernel in found.kernels if kernel.variant_of is None and kernel.source is not None]
    sides = [lifted_side(file, kernel, known.get(kernel.name), _launched(known.get(kernel.name))) for kernel in lifted]
    return _compared(read_sides(text, "program.py", None, {}), sides)


def _launched(launch: Launch | None) -> Mapping[str, object]:
    """The numbers that a kernel is launched with: a program has the same where it has compile-time parameters."""
    constants = {} if launch is None else launch.known.constants
    return {name: value for name, value in constants.items() if type(value) is int}


def _compared(wanted: list[Side], found: list[Side]) -> tuple[str, str]:
    """Of all kernels, each with those that are named after it: the first answer that is not `same`."""
    if not found:
        raise NoSide("no kernel is lifted")
    worst = ("same", "")
    for kernel in wanted:
        for side in [each for each in found if _named_after(each, wanted) is kernel] or found:
            verdict = compare(kernel, side)
            if verdict.answer != "same":
                worst = (verdict.answer, verdict.reason or "")
            if not verdict.holds:
                difference = verdict.difference
                said = f"{difference.kind}: {difference.first} against {difference.second}" if difference else ""
                return verdict.answer, verdict.reason if verdict.reason and not said else said
    return worst


def _named_after(side: Side, kernels: list[Side]) -> Side | None:
    """The kernel that a side is named after: of several, the one with the longest name."""
    named = [kernel for kernel in kernels if side.name.startswith(f"{kernel.name}_")]
    return max(named, key=lambda kernel: len(kernel.name), default=None)


def _uses(compiled: Compilation) -> Iterable[str]:
    if any(variant.scratch for code in compiled.codes for variant in code.variants if not variant.beyond):
        yield "scratch"
    if compiled.program is not None and any(_folds(kernel.body) for kernel in compiled.program.kernels):
        yield "fold"


def _folds(block: lp.Block) -> bool:
    for statement in block.statements:
        match statement:
            case lp.Let(op=lp.RegionFold() | lp.RegionScan()):
                return True
            case lp.For(body=body) | lp.Parallel(body=body) | lp.While(body=body):
                if _folds(body):
                    return True
            case lp.If(then=then, orelse=orelse):
                if _folds(then) or _folds(orelse):
                    return True
            case _:
                pass
    return False


def samples() -> list[str]:
    return sorted(path.stem for path in SAMPLES.glob("*.py"))


def text(trip: RoundTrip) -> str:
    """What `round-trip.txt` holds."""
    reason = re.sub(r"line [0-9]+: ", "", trip.reason)  # lines move with whatever stands before them
    uses = trip.uses or "neither scratch nor folds"
    return f"answer  {trip.answer}\nuses    {uses}\nreason  {reason or 'none'}\n"


# Lifting reads how kernels are launched; checks and transfers say nothing that the wrappers and tables do not.
_UNREAD = PRIVATE_NAMES.difference(definitions(PLAN), definitions(LAUNCH))


def read_by_lifting(module: str) -> str:
    """A module without its docstring, its imports, and what it has in common with others but for launches."""
    return "\n".join(ast.unparse(node) for node in ast.parse(module).body if not _unread(node))


def _unread(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name in _UNREAD
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name in _UNREAD
        case ast.Expr() | ast.Import() | ast.ImportFrom():
            return True
        case _:
            return False


def examine(stem: str) -> None:
    """Write what a sample's module lifts to, and what comparing it says."""
    trip = round_trip(stem)
    lifted, said = GOLDEN / stem / "lifted.py", GOLDEN / stem / "round-trip.txt"
    if trip is None:
        return
    said.write_text(text(trip), encoding="utf-8")
    if trip.lifted is not None:
        lifted.write_text(trip.lifted, encoding="utf-8")
    elif lifted.exists():
        lifted.unlink()


def page() -> str:
    """The table of all round trips that do not come back as the same program, from the files in `golden/`."""
    found = {path.parent.name: _fields(path) for path in sorted(GOLDEN.glob("*/round-trip.txt"))}
    answers = [each["answer"] for each in found.values()]
    same, reassociated = answers.count("same"), answers.count("same up to permitted reassociation")
    rows = [
        f"| {stem} | {each['uses']} | {each['answer']} | {_cell(each['reason'])} |\n"
        for stem, each in found.items()
        if not each["answer"].startswith("same")
    ]
    return HEAD.format(count=len(found), same=same, reassociated=reassociated) + "".join(rows)


def _fields(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line[:8].strip(): line[8:] for line in lines}


def _cell(text: str) -> str:
    return f"`{text.replace('|', '¦').replace('`', '')}`" if text else ""


def main() -> None:
    for stem in sys.argv[1:] or samples():
        examine(stem)
        PAGE.write_text(page(), encoding="utf-8")
        print(stem, flush=True)


if __name__ == "__main__":
    main()
