"""What a client may ask on names or on program text, each as a plain function: text in, text and data out.

A program is never looked up: its text is all there is. Files that it imports do not exist here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from intent.dtypes import BY_NAME, DType
from intent.records import dataclass
from intentc import comparison_report, formats, lift_report, render
from intentc.comparison import Given, NamedKernel, compare_texts
from intentc.failure import UsageError
from intentc.lift_check import checked
from intentc.listing import described, logical, plan
from intentc.lookup import codes, entries, pages
from intentc.lookup.search import search
from translators.comparison.variants import merged
from translators.diagnostics import Diagnostic
from translators.lifting.files import LiftedFile, Wanted, lift_text
from translators.options import Arm, Numerics, Options
from translators.pipeline import compile_text, rejects

Constants = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Answer:
    """The same content as texts for a reader, the main one first, and as JSON data."""

    texts: tuple[str, ...]
    data: Mapping[str, object]


# ------------------------------------------------------------------------------------------------------------- look-up
def search_answer(query: str, limit: int) -> Answer:
    """Names, diagnostics and sections of pages, best first."""
    hits = search(query, limit)
    lines = [f"{hit.document.kind} {hit.document.identity}: {hit.document.title}" for hit in hits]
    return Answer(("\n".join(lines) or "nothing is found",), {"hits": [hit.as_data() for hit in hits]})


def api_answer(name: str) -> Answer:
    """One name of the language or the host interface. Raises UsageError, as do all that look up what is unknown."""
    entry = entries.named(name)
    return Answer((entries.text_of(entry),), entry.as_data())


def read_answer(page: str | None) -> Answer:
    """A page or a section of one; the list of pages if none is named."""
    if page is None:
        listed = {each.identity: each.title for each in pages.pages().values()}
        return Answer(("\n".join(f"{each}: {title}" for each, title in listed.items()),), {"pages": listed})
    title, text = pages.found(page)
    return Answer((text,), {"id": page, "title": title, "text": text})


# ----------------------------------------------------------------------------------------------------- Intent programs
def check_answer(program: str, constexpr: Constants, numerics: Numerics, filename: str) -> Answer:
    """Every diagnostic of the program, notes included."""
    found = compile_text(program, filename, Options(constexpr, numerics, alone=True)).diagnostics
    return Answer((_reported(found, filename, program),), _outcome(found))


def compile_answer(program: str, constexpr: Constants, numerics: Numerics, arm: Arm, filename: str) -> Answer:
    """The generated module, or what is wrong with the program."""
    compilation = compile_text(program, filename, Options(constexpr, numerics, arm=arm, alone=True))
    found = compilation.diagnostics
    texts = [compilation.source] if compilation.source is not None else []
    texts += [_reported(found, filename, program)] if found else []
    return Answer(tuple(texts), {**_outcome(found), "module": compilation.source})


def explain_answer(code: str | None, program: str | None, constexpr: Constants, filename: str) -> Answer:
    """The rule of a code, or what the compiler makes of a program."""
    if (code is None) == (program is None):
        raise UsageError("explain takes a code or a program, one of them")
    if code is not None:
        rule = codes.named(code)
        data = {"code": rule.code, "title": rule.title, "rule": rule.rule, "wrong": rule.wrong, "right": rule.right}
        return Answer((codes.text_of(rule),), data)
    assert program is not None
    compilation = compile_text(program, filename, Options(constexpr, alone=True))
    kernels = [
        {"name": each.kernel.name, "logical": list(logical(each))[1:], "plan": list(plan(each))[1:]}
        for each in compilation.codes
    ]
    reported = _reported(compilation.diagnostics, filename, program)
    texts = (*map(described, compilation.codes), *([reported] if compilation.diagnostics else []))
    return Answer(texts, {**_outcome(compilation.diagnostics), "kernels": kernels})


def _outcome(found: Sequence[Diagnostic]) -> dict[str, object]:
    return {"accepted": not rejects(found), "diagnostics": list(map(formats.as_data, found))}


def _reported(found: Sequence[Diagnostic], filename: str, program: str) -> str:
    """The diagnostics as `intentc check` prints them."""
    if not found:
        return "no diagnostics"
    sources = render.Sources()
    sources.add(filename, program)
    return "\n\n".join([*(render.full(each, sources) for each in found), render.summary(found)])


# ----------------------------------------------------------------------------------------------------- Triton programs
def lift_answer(
    program: str, kernel: str | None, constexpr: Constants, dtypes: Mapping[str, str], filename: str
) -> Answer:
    """The Intent source of what is lifted, and a report on every kernel."""
    wanted = Wanted(kernel, constexpr, _dtypes(dtypes), alone=True)
    lifted = lift_text(program, filename, wanted)
    found = lifted.diagnostics
    if not found:
        if not lifted.kernels:
            raise UsageError(f"{filename} has no kernel{f' {kernel!r}' if kernel else ''}")
        lifted = merged(program, checked(lifted, wanted), constexpr, alone=True)
    texts = [lifted.source] if lifted.source is not None else []
    texts.append(_reported(found, filename, program) if found else lift_report.as_text(lifted, {}))
    return Answer(tuple(texts), _lift_data(lifted))


def _lift_data(lifted: LiftedFile) -> dict[str, object]:
    kernels = lift_report.as_data(lifted, {})["kernels"]
    return {"source": lifted.source, "kernels": kernels, "diagnostics": list(map(formats.as_data, lifted.diagnostics))}


def _dtypes(names: Mapping[str, str]) -> dict[str, DType]:
    unknown = [dtype for dtype in names.values() if dtype not in BY_NAME]
    if unknown:
        raise UsageError(f"there is no dtype {unknown[0]!r}; there are {', '.join(BY_NAME)}")
    return {parameter: BY_NAME[dtype] for parameter, dtype in names.items()}


def compare_answer(
    programs: Sequence[str], kernels: Sequence[str | None], constexpr: Constants, filenames: Sequence[str]
) -> Answer:
    """Whether two kernels, in Intent or Triton, are one program."""
    first, second = map(NamedKernel, filenames, kernels)
    results = compare_texts(first, second, programs, Given(constexpr, alone=True))
    data = {"results": [comparison_report.as_data(result) for result in results]}
    return Answer(tuple(map(comparison_report.as_text, results)), data)


ANSWERS: Final[Mapping[str, Callable[..., Answer]]] = {
    "search": search_answer,
    "api": api_answer,
    "read": read_answer,
    "check": check_answer,
    "compile": compile_answer,
    "explain": explain_answer,
    "lift": lift_answer,
    "compare": compare_answer,
}


def answer(name: str, arguments: Mapping[str, object]) -> Answer:
    """The answer of the function that is named. Raises UsageError where what is asked for does not exist."""
    return ANSWERS[name](**arguments)


def prepare() -> None:
    """Load what is otherwise loaded with the first program."""
    compile_answer(_SMALL, {}, "source", "both", "kernel.py")
    search("domain")


_SMALL: Final = """\
import intent
import intent.language as I


@intent.kernel
def double(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    rows = I.domain(0, x.shape[0])
    y[rows] = x[rows] + x[rows]
"""
