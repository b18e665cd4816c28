"""What an editor shows of a document: diagnostics, what names mean, and where they are defined.

One request and one answer for each version of a document, with places as lines from 0 and columns in characters.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from intent.records import dataclass, field
from intentc import formats
from intentc.lookup import entries
from intentc.serving.answers import Answer
from intentc.serving.answers import prepare as prepare_compiler
from intentc.serving.definitions import links
from translators.intent_source.read.codes import NO_KERNEL
from translators.intent_source.read.observation import Observed, observe
from translators.intent_source.read.operands import Format, Function, IntrinsicName, Token
from translators.logical.program import Value
from translators.logical.types import Buffer, Domain, View
from translators.options import Options
from translators.pipeline import compile_text
from translators.triton_source.launch import KernelCode

_IMPORTS: Final = re.compile(r"^\s*(?:import|from)\s+intent\b", re.MULTILINE)


def prepare() -> None:
    """Load what is otherwise loaded with the first document."""
    prepare_compiler()
    entries.entries()


def answer(name: str, arguments: Mapping[str, object]) -> Answer:
    """`analyse` is the one request."""
    return ANSWERS[name](**arguments)


def analyse(text: str, path: str, constexpr: Mapping[str, object], alone: bool) -> Answer:
    """Everything that is shown of the document with this text; `alone`: it is not a file yet."""
    if not _IMPORTS.search(text):  # an editor opens other files of Python too
        return Answer((), {"diagnostics": [], "hovers": [], "texts": [], "definitions": []})
    options = Options(constexpr, alone=alone)
    compilation = compile_text(text, path, options)
    plans = {code.kernel.name: plan_line(code) for code in compilation.codes}
    lines = text.split("\n")
    hovers = _Table()
    for each in observe(text, path, constexpr, alone):
        shown = hover(each, plans.get(each.kernel, ""), lines)
        if shown is not None:
            hovers.add([each.span.line - 1, each.span.column - 1, each.span.end_column - 1], shown)
    data = {
        "diagnostics": [formats.as_data(each) for each in compilation.diagnostics if each.code != NO_KERNEL],
        "hovers": hovers.rows,
        "texts": list(hovers.texts),
        "definitions": list(_definitions(text, path)),
    }
    return Answer((), data)


ANSWERS: Final[Mapping[str, Callable[..., Answer]]] = {"analyse": analyse}


@dataclass(slots=True)
class _Table:
    """Places with texts, of which each is kept once."""

    rows: list[list[int]] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)

    def add(self, place: Sequence[int], text: str) -> None:
        self.rows.append([*place, self.texts.setdefault(text, len(self.texts))])


# --------------------------------------------------------------------------------------------------------------- hovers
def hover(name: Observed, plan: str, lines: Sequence[str]) -> str | None:
    """What is shown of a name, as Markdown; None if there is nothing to say."""
    match name.binding:
        case IntrinsicName(path=path) | Format(path=path):
            return _intrinsic(path)
        case Function(node=node):
            text = f"```python\n@intent.fn\ndef {node.name}({ast.unparse(node.args)})\n```"
            documented = ast.get_docstring(node)
            return f"{text}\n\n{documented}" if documented else text
        case Token(dtype=dtype):
            return f"`I.{dtype.name}`: a dtype"
        case _ if name.described:
            return "\n\n".join([f"`{name.name}`: {name.described}", *_provenance(name, lines), *_planned(name, plan)])
        case _:
            return None


def _intrinsic(path: str) -> str | None:
    entry = entries.entries().get(f"I.{path}")
    if entry is None:
        return None
    result = f"\n\ngives {entry.result}" if entry.result else ""
    return f"```python\n{entry.declaration}\n```\n\n{entry.summary}{result}"


def _provenance(name: Observed, lines: Sequence[str]) -> Iterator[str]:
    if name.line and name.line != name.span.line and name.line <= len(lines):
        yield f"line {name.line}: `{lines[name.line - 1].strip()}`"
    sources = [each for each in name.sources if each != name.name]
    if sources:
        yield f"computed from {', '.join(f'`{each}`' for each in sources)}"


def _planned(name: Observed, plan: str) -> Iterator[str]:
    if plan and isinstance(name.binding, Value | View | Domain | Buffer):
        yield f"`{name.kernel}` runs {plan}"


def plan_line(code: KernelCode) -> str:
    """How the kernel runs, in one line: each plan with the largest sizes that it is for."""
    plans = {each.plan: each.condition for each in code.variants if each.plan}
    parts = [f"{plan} (when {condition})" if condition else plan for plan, condition in plans.items()]
    return ", else ".join(parts)


# ---------------------------------------------------------------------------------------------------------- definitions
def _definitions(text: str, path: str) -> Iterator[dict[str, object]]:
    own = text.split("\n")
    for link in links(text, path):
        used = link.used
        assert used.end_lineno is not None and used.end_col_offset is not None
        end = _characters(own, used.end_lineno, used.end_col_offset)
        length = len(used.attr if isinstance(used, ast.Attribute) else used.id)
        begin = _characters(link.lines, link.line, link.column)
        yield {
            "place": [used.end_lineno - 1, end - length, end],
            "path": link.path,
            "target": [link.line - 1, begin, begin + len(link.name)],
        }


def _characters(lines: Sequence[str], line: int, column: int) -> int:
    """A column in characters, of one that counts bytes."""
    return len(lines[line - 1].encode()[:column].decode(errors="ignore"))
