"""The page of `intentc lift FILE --html`: each Triton kernel, what became of it, and what that rests on.

The ledger of a lift names the parameters, lanes and programs that a fact is about; the lines in which these occur are
the lines that the fact is linked to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from intent.records import dataclass
from intentc.viewer.axes import spelled
from intentc.viewer.code import Listing, definitions
from intentc.viewer.markup import Markup, element, joined
from intentc.viewer.page import document, line_link, pane
from intentc.viewer.variants import table
from translators.intent_source.write import write_kernel
from translators.lifting.correspondence import Correspondence
from translators.lifting.files import LiftedFile
from translators.lifting.lift import Lifted

_BASES = {
    "view": "What its pointers are",
    "size": "What its numbers are",
    "grid": "What its programs are",
    "host": "What the launch says",
    "proven": "Proven for every input",
    "assumed": "Must hold for both to be one program",
    "physical": "Has no meaning beyond speed",
    "numerics": "Where numbers may differ in their last places",
}


@dataclass(frozen=True, slots=True)
class _Fact:
    """One row of the ledger: what is physical, what it became, and the lines that it is about."""

    basis: str
    physical: str
    became: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Kernel:
    lifted: Lifted
    path: str
    text: str
    name: str  # prefix of ids

    @property
    def span(self) -> tuple[int, int]:
        return definitions(self.text).get(self.lifted.name, (self.lifted.line, self.lifted.line))


def lift_page(lifted: LiftedFile, text: str, verified: Mapping[str, object]) -> str:
    """The page of a file of Triton kernels whose text is `text`; `verified` has what running a kernel has shown."""
    kernels = [_Kernel(each, lifted.path, text, f"k{number}") for number, each in enumerate(lifted.kernels, 1)]
    done = sum(each.source is not None for each in lifted.kernels)
    summary = f"{done} of {len(kernels)} Triton kernels, as what they compute. Nothing of the file has been executed."
    entries = [(each.name, each.lifted.name) for each in kernels]
    return document(lifted.path.rpartition("/")[2], summary, entries, [_kernel(each, verified) for each in kernels])


def _kernel(shown: _Kernel, verified: Mapping[str, object]) -> Markup:
    lifted = shown.lifted
    status = joined(element("span", lifted.status, class_="badge " + ("proven" if lifted.source else "assumed")), " ")
    text = lifted.reason or ""
    text = f"the same program as {lifted.variant_of}" if lifted.variant_of else text
    text = f"run side by side: {verified[lifted.name]}" if lifted.name in verified else text
    facts = list(_facts(shown))
    return element(
        "section", element("h2", lifted.name), element("p", status, text), _codes(shown, facts), _ledger(shown, facts),
        class_="kernel", id=shown.name,
    )  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------- code
def _codes(shown: _Kernel, facts: Sequence[_Fact]) -> Markup:
    first, last = shown.span
    lines = shown.text.split("\n")
    written = write_kernel(shown.lifted.source).strip("\n").split("\n") if shown.lifted.source is not None else []
    across = _arrays(shown, written)
    links: dict[int, list[str]] = {}
    for line, others in across.items():
        links.setdefault(line, []).extend(f"{shown.name}-i-{other}" for other in others)
    for number, fact in enumerate(facts):
        for line in fact.lines:
            links.setdefault(line, []).append(f"{shown.name}-fact{number}")
    back: dict[int, list[str]] = {}
    for line, others in across.items():
        for other in others:
            back.setdefault(other, []).append(f"{shown.name}-t-{line}")
    beyond = sorted({line for fact in facts for line in fact.lines if not first <= line <= last})
    numbers = sorted({*range(first, last + 1), *beyond})
    triton = Listing(f"{shown.name}-t", lines, numbers, {n: each for n, each in links.items() if n in numbers})
    left = pane(f"{shown.path.rpartition('/')[2]}, Triton", triton, shown.lifted.name, "source")
    if not written:
        return element("div", left, class_="codes")
    intent = Listing(f"{shown.name}-i", written, range(1, len(written) + 1), back)
    return element("div", left, pane("What it computes, in Intent", intent, shown.lifted.name), class_="codes lifted")


def _arrays(shown: _Kernel, written: Sequence[str]) -> dict[int, list[int]]:
    """Lines of the Triton kernel in which a pointer occurs, and those of the Intent kernel with its array."""
    found: dict[int, list[int]] = {}
    for view in shown.lifted.views:
        intent = [n for n, line in enumerate(written, 1) if re.search(rf"\b{view.view.name}\b", line)]
        for line in _lines_with(shown, {view.pointer}):
            found.setdefault(line, []).extend(each for each in intent if each not in found.get(line, ()))
    return found


# --------------------------------------------------------------------------------------------------------------- ledger
def _facts(shown: _Kernel) -> Iterator[_Fact]:
    lifted = shown.lifted
    for view in lifted.views:
        array = f"{view.view.name}[{', '.join(map(repr, view.view.shape))}] {view.view.dtype.name}"
        became = f"{view.view.direction} {array}, strides ({', '.join(view.strides)})"
        yield _Fact("view", view.pointer, became, _lines_with(shown, {view.pointer}))
    if lifted.correspondence is not None:
        yield from _parameters(shown, lifted.correspondence)
    for note in lifted.notes:
        about, _, rest = note.text.partition(": ")
        parts = (about, rest) if rest else ("", note.text)
        yield _Fact(note.basis, *parts, _launch_lines(note.text) or _lines_with(shown, _words(note.text)))
    for name in lifted.groups:
        yield _Fact("physical", name, "a block size that the result depends on", _lines_with(shown, {name}))
    for name in lifted.physical:
        yield _Fact("physical", name, "gone: any value gives the same result", _lines_with(shown, {name}))
    for text in lifted.numerics:
        about, _, rest = text.partition(": ")
        yield _Fact("numerics", about if rest else "", rest or text, _lines_with(shown, _words(about)))


def _parameters(shown: _Kernel, found: Correspondence) -> Iterator[_Fact]:
    """What became of the parameters that are no pointers, and of the programs."""
    views = shown.lifted.views
    strides = {stride for view in views for stride in view.strides}
    for name in found.integers:
        sized = [each.view.name for each in views if any(repr(extent) == name for extent in each.view.shape)]
        became = f"a size of {', '.join(sized)}" if sized else "an integer parameter"
        if name not in strides or sized:
            yield _Fact("size", name, became, _lines_with(shown, {name}))
    for name in found.floats:
        yield _Fact("size", name, "a scalar parameter", _lines_with(shown, {name}))
    for axis, count in enumerate(found.grid):
        lines = tuple(line for line in _lines_with(shown, {"program0"}) if _asks_for(shown, line, axis))
        if lines:
            became = f"points of the domains that {spelled(count)} programs divide"
            yield _Fact("grid", f"program_id({axis})", became, lines)


def _asks_for(shown: _Kernel, line: int, axis: int) -> bool:
    text = shown.text.split("\n")[line - 1]
    return f"program_id({axis})" in text or f"program_id(axis={axis})" in text


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _launch_lines(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\bline (\d+)\b", text))


def _lines_with(shown: _Kernel, words: set[str]) -> tuple[int, ...]:
    """Lines of the kernel's body in which one of the names occurs. `lane…` and `program…` are what a lift calls the
    results of `tl.arange` and `tl.program_id`.
    """
    kinds = {"arange"} if any(re.fullmatch(r"lane\d*", word) for word in words) else set()
    kinds |= {"program_id"} if any(re.match(r"program\d", word) for word in words) else set()
    found = set()
    for node in _body(shown):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if (isinstance(node, ast.Name) and name in words) or name in kinds or (name in words and _is_triton(node)):
            found.add(node.lineno)
    return tuple(sorted(found))


def _is_triton(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tl"


def _body(shown: _Kernel) -> Iterator[ast.expr]:
    for function in ast.parse(shown.text).body:
        if isinstance(function, ast.FunctionDef) and function.name == shown.lifted.name:
            for statement in function.body:
                yield from (node for node in ast.walk(statement) if isinstance(node, ast.expr))


def _ledger(shown: _Kernel, facts: Sequence[_Fact]) -> Markup | None:
    if not facts:
        return None
    rows = []
    for number, fact in enumerate(facts):
        badge = element("span", fact.basis, class_=f"badge {fact.basis}", title=_BASES.get(fact.basis, ""))
        links = [
            joined(" " if n else "", line_link(f"{shown.name}-t-{line}", line)) for n, line in enumerate(fact.lines)
        ]
        name = element("span", fact.physical, id=f"{shown.name}-fact{number}", class_="mono")
        rows.append([name, badge, fact.became, joined(*links)])
    head = element("h3", "What each physical fact became")
    legend = element("p", "; ".join(f"{basis}: {text[0].lower()}{text[1:]}" for basis, text in _BASES.items()) + ".",
                     class_="quiet")  # fmt: skip
    return element("div", head, legend, table(("Fact", "Basis", "Became", "Lines"), rows), class_="block ledger")
