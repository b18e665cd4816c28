"""The results of a run as a page: four numbers per corpus, the ladder, and why the rest was refused."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.corpus.ladder import LADDER, Rung
from tests.corpus.packages import PACKAGES
from translators.triton_source.read.source import read_file

Record = dict[str, Any]
REASONS: Final = 25
LIFTED: Final = ("lifted", "lifted with groups")


def write_page(path: Path, records: Mapping[str, Sequence[Record]], coverage: Mapping[str, tuple[int, int]]) -> None:
    every = [record for each in records.values() for record in each]
    lines = [
        *_head(),
        *_table(records, coverage),
        "",
        *_left_out(records),
        *_speed(every),
        "",
        *_ladder(every),
        "",
        *_wrong(every),
        *_reasons(records),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def outcome(record: Record) -> str:
    """equal, lifted (its original does not run), wrong, refused, or failed (a crash or a time-out of ours)."""
    if record["status"] not in LIFTED:
        return "refused" if record["status"] in ("unsupported", "partial") else "failed"
    verified = record["verified"]
    if verified["reason"] is None:
        return "equal" if verified["agreed"] == verified["calls"] else "wrong"
    return "lifted" if not verified["reason"].startswith("the lifted kernel") else "failed"


def _head() -> Iterator[str]:
    yield "# Lifting public kernels"
    yield ""
    yield (
        "Written by `make corpus`. Every `@triton.jit` kernel of the packages below is lifted; what is lifted is "
        "compiled again, and original and result run side by side under Triton's CPU interpreter on random sizes. "
        "A kernel counts once, for the first values of its compile-time flags that can be lifted; its report names "
        "them."
    )
    yield ""
    yield "- **lifted**: in normal form; no program id or block size is left outside a declared group"
    yield "- **equal**: of those, the recompiled kernel stored the same numbers as the original"
    yield "- **not run**: lifted, not compared: the original does not run in the interpreter, or no sizes were found"
    yield "- **refused**: not lifted, for the reason that its report gives"
    yield "- **wrong**: lifted, and the numbers differ"
    yield ""


def _left_out(records: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    """What the kernels of a package are fewer by."""
    yield (
        "A kernel is a name in a file. Copies of kernels for other vendors' devices do not count; they are left out by "
        "what their paths have in them:"
    )
    yield ""
    for package in PACKAGES:
        if package.left_out and package.name in records and package.directory.is_dir():
            paths = ", ".join(f"`{part}`" for part in package.left_out)
            counts = [sum(map(_kernels, files)) for files in (package.files(), package.files_left_out())]
            yield f"- {package.label}: {paths}: {counts[1]} kernels beside the {counts[0]} that count"
    yield ""


def _kernels(path: Path) -> int:
    try:
        kernels = read_file(path.read_text(encoding="utf-8", errors="replace"), str(path)).kernels
    except SyntaxError:
        return 0
    return len({each.name for each in kernels})


def _table(records: Mapping[str, Sequence[Record]], coverage: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    yield "| package | kernels | lifted | equal | not run | refused | wrong | crash, time-out |"
    yield "|---|---|---|---|---|---|---|---|"
    total: Counter[str] = Counter()
    for package in PACKAGES:
        if package.name in coverage:
            counts = Counter(map(outcome, records[package.name]))
            total.update(counts)
            yield _row(package.label, coverage[package.name], counts)
    done, kernels = (sum(each) for each in zip(*coverage.values(), strict=True))
    yield _row("all", (done, kernels), total)


def _row(name: str, coverage: tuple[int, int], counts: Mapping[str, int]) -> str:
    done, kernels = coverage
    lifted = counts["equal"] + counts["lifted"] + counts["wrong"]
    cells = [lifted, counts["equal"], counts["lifted"], counts["refused"], counts["wrong"], counts["failed"]]
    covered = f"{done} of {kernels}" if done < kernels else str(kernels)
    return f"| {name} | {covered} | {' | '.join(map(str, cells))} |"


def _speed(records: Sequence[Record]) -> Iterator[str]:
    seconds = sorted(record["seconds"] for record in records if "seconds" in record)
    if seconds:
        median, high = statistics.median(seconds) * 1000, seconds[int(len(seconds) * 0.95)] * 1000
        yield f"A lift takes {median:.0f} ms (median) and {high:.0f} ms (95th percentile) of processor time."


# --------------------------------------------------------------------------------------------------------- ladder
def _ladder(records: Sequence[Record]) -> Iterator[str]:
    yield "## The ladder"
    yield ""
    yield "| | kernel | what is new in it | lifted | verified |"
    yield "|---|---|---|---|---|"
    for rung in LADDER:
        found = [record for record in records if record.get("file") == rung.file and record["kernel"] == rung.kernel]
        yield _rung(rung, found[0] if found else None)


def _rung(rung: Rung, record: Record | None) -> str:
    status, verified = "not read", ""
    if record is not None:
        status = record["status"] if record["status"] in LIFTED else f"no: {_reason(record)}"
        verified = _verified(record["verified"]) if "verified" in record else ""
    return f"| {rung.number} | {rung.file} `{rung.kernel}` | {rung.what} | {status} | {verified} |"


def _verified(verified: Mapping[str, Any]) -> str:
    if verified["reason"] is not None:
        return f"no: {verified['reason']}"
    return f"{verified['agreed']} of {verified['calls']} calls"


# --------------------------------------------------------------------------------------------------------- reasons
def _wrong(records: Sequence[Record]) -> Iterator[str]:
    found = [record for record in records if outcome(record) in ("wrong", "failed")]
    if found:
        yield "## Faults of ours"
        yield ""
        for record in found:
            why = _verified(record["verified"]) if "verified" in record else _reason(record)
            yield f"- {record['file']} `{record['kernel']}`: {outcome(record)}, {why}"
        yield ""


def _reasons(records: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    yield "## Why kernels are refused"
    yield ""
    counted: Counter[str] = Counter()
    by_package: dict[str, Counter[str]] = {}
    for name, each in records.items():
        found = Counter(_kind(record) for record in each if outcome(record) == "refused")
        by_package[name] = found
        counted.update(found)
    names = [package.name for package in PACKAGES if package.name in by_package]
    yield f"| reason | all | {' | '.join(names)} |"
    yield "|---|" + "---|" * (len(names) + 1)
    for reason, count in counted.most_common(REASONS):
        cells = [str(by_package[name][reason] or "") for name in names]
        yield f"| {reason} | {count} | {' | '.join(cells)} |"
    rest = sum(counted.values()) - sum(count for _, count in counted.most_common(REASONS))
    yield f"| others | {rest} | {' | '.join('' for _ in names)} |"


def _reason(record: Record) -> str:
    text = re.sub(r"^line \d+: ", "", record.get("reason") or record["status"])
    return text.replace("|", "\\|").replace("\n", " ")[:120]


def _kind(record: Record) -> str:
    """The reason without the names of this kernel; names of Triton's functions stay."""
    text = re.sub(r"'(?!tl\.|libdevice\.|//|%)[^']*'", "'…'", _reason(record))
    return re.sub(r"(needs the value of|they are|no place in a view:|product of coordinates:) .*", r"\1 …", text)
