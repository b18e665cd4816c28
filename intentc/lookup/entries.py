"""What `intentc api` knows: every intrinsic of the language and every name of the host interface.

Signatures, results and summaries of intrinsics are those of the table that the compiler reads; which dtypes they take,
with which code others are rejected, and an example come from `intrinsics.json`, which is written from the programs of
the conformance suite. The host interface is described by its own docstrings.
"""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from intent.intrinsics import INTRINSICS, Intrinsic
from intent.records import dataclass
from intentc.failure import UsageError

DATA: Final = Path(__file__).with_name("intrinsics.json")
PAGES: Final[Mapping[int, str]] = {
    4: "language/domains", 5: "language/tensors", 6: "language/memory", 7: "language/reductions",
    8: "language/contractions", 10: "language/numerics",
}  # fmt: skip
_HOST_PAGE: Final = "host-api"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name. `rejected` maps dtypes to the code that refuses them; `example` is a whole kernel file."""

    name: str
    declaration: str
    summary: str
    page: str
    result: str = ""
    dtypes: tuple[str, ...] = ()
    rejected: Mapping[str, str] | None = None
    example: str = ""

    def as_data(self) -> dict[str, object]:
        """The entry as JSON data; absent parts are left out."""
        parts: dict[str, object] = {
            "name": self.name, "declaration": self.declaration, "summary": self.summary, "result": self.result,
            "dtypes": list(self.dtypes), "rejected": dict(self.rejected or {}), "example": self.example,
            "page": self.page,
        }  # fmt: skip
        return {name: value for name, value in parts.items() if value}


@cache
def entries() -> Mapping[str, Entry]:
    """Every entry by its full name: `I.reduce.sum`, `intent.compile`, `intent.Artifact.run`."""
    return {entry.name: entry for entry in (*_intrinsics(), *_host_names())}


def named(name: str) -> Entry:
    """The entry of a name with or without `I.` or `intent.`; UsageError names those like it."""
    known = entries()
    for full in (name, f"I.{name}", f"intent.{name}"):
        if full in known:
            return known[full]
    like = difflib.get_close_matches(name, [*known, *(each.partition(".")[2] for each in known)], n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(dict.fromkeys(like))}?" if like else f"; `intentc search {name}` may find it"
    raise UsageError(f"there is no {name}{hint}")


def text_of(entry: Entry) -> str:
    """The entry as `intentc api` prints it."""
    parts = [entry.declaration, "", entry.summary, ""]
    parts += [f"gives     {entry.result}"] if entry.result else []
    parts += [f"dtypes    {' '.join(entry.dtypes)}"] if entry.dtypes else []
    codes: dict[str, list[str]] = {}
    for dtype, code in (entry.rejected or {}).items():
        codes.setdefault(code, []).append(dtype)
    parts += [f"rejected  {' '.join(dtypes)}: {code}" for code, dtypes in codes.items()]
    parts += [f"page      intentc read {entry.page}"]
    if entry.example:
        body = entry.example.partition("import intent.language as I\n")[2].strip()
        parts += ["", body]
    return "\n".join(parts)


def _intrinsics() -> Iterator[Entry]:
    known = json.loads(DATA.read_text(encoding="utf-8"))
    for path, intrinsic in INTRINSICS.items():
        yield _intrinsic_entry(intrinsic, known[path])


def _intrinsic_entry(intrinsic: Intrinsic, known: Mapping[str, object]) -> Entry:
    dtypes, rejected, example = known["dtypes"], known["rejected"], known["example"]
    assert isinstance(dtypes, list) and isinstance(rejected, dict) and isinstance(example, str)
    return Entry(
        f"I.{intrinsic.path}", intrinsic.signature, intrinsic.doc, PAGES[intrinsic.section],
        intrinsic.result, tuple(dtypes), rejected, example,
    )  # fmt: skip


def _host_names() -> Iterator[Entry]:
    import intent
    from intent import targets

    named = {f"intent.{name}": getattr(intent, name) for name in intent.__all__ if name not in ("language", "targets")}
    named |= {f"intent.targets.{name}": getattr(targets, name) for name in ("TritonTarget", "ReferenceTarget")}
    for name, value in named.items():
        yield _host_entry(name, value)
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for member, attribute in vars(value).items():
                if not member.startswith("_") and (inspect.isfunction(attribute) or isinstance(attribute, property)):
                    yield _host_entry(f"{name}.{member}", attribute)


def _host_entry(name: str, value: object) -> Entry:
    documented = inspect.getdoc(value) or ""
    return Entry(name, f"{name}{_signature(value)}", documented, _HOST_PAGE)


def _signature(value: object) -> str:
    if isinstance(value, property) or not callable(value):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        each.replace(annotation=inspect.Parameter.empty)
        for name, each in signature.parameters.items()
        if name != "self"
    ]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
