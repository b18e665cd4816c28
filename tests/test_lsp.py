"""The language server, as an editor meets it: the real process, over the protocol."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from command_line import ROOT, intentc
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from intentc.serving.documents import plan_line
from translators.pipeline import compile_text

T = TypeVar("T")
PATIENCE = 60.0  # seconds; the machine may be busy
TEXT = """\
import intent
import intent.language as I
from .helpers import doubled

WIDTH = 2.0


@intent.fn
def scaled(value, factor):
    \"\"\"The value, scaled.\"\"\"
    return value * factor


@intent.kernel
def rows(x: I.In[I.f32, ("M", "N")], s: I.f32, y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        v = x[m, columns] * s
        total = I.reduce.sum(v, axis=0)
        y[m, columns] = scaled(doubled(v), WIDTH) / total  # é 😋
"""
HELPERS = """\
import intent


@intent.fn
def doubled(value):
    return value + value
"""


class Editor:
    """An editor with one file open."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.path, self.uri, self.version = client, path, path.as_uri(), 0
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.news = asyncio.Event()
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._publish))

    def _publish(self, parameters: types.PublishDiagnosticsParams) -> None:
        self.published[parameters.uri] = parameters
        self.news.set()

    async def open(self, text: str, name: str = "rows.py", uri: str | None = None) -> list[types.Diagnostic]:
        self.uri, self.text = uri or (self.path.parent / name).as_uri(), text
        item = types.TextDocumentItem(self.uri, "python", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    def type(self, position: types.Position, end: types.Position, text: str) -> None:
        self.version += 1
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = types.TextDocumentContentChangePartial(types.Range(position, end), text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    async def replace(self, old: str, new: str) -> list[types.Diagnostic]:
        """Replace the first occurrence, as an edit of this place alone."""
        self.type(*_range(self.text, old), new)
        self.text = self.text.replace(old, new, 1)
        return await self.diagnostics()

    async def diagnostics(self) -> list[types.Diagnostic]:
        """Those of the text as it is."""
        while (found := self.published.get(self.uri)) is None or found.version != self.version:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), PATIENCE)
        return list(found.diagnostics)

    async def hover(self, before: str, name: str) -> str:
        """What is shown of the name that follows the text `before`."""
        found = await self.client.text_document_hover_async(types.HoverParams(self._document(), self._at(before)))
        assert found is not None and found.range is not None
        assert _in(self.text, found.range) == name
        return str(found.contents.value)

    async def definition(self, before: str) -> types.Location | None:
        parameters = types.DefinitionParams(self._document(), self._at(before))
        return await self.client.text_document_definition_async(parameters)

    async def actions(self, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        context = types.CodeActionContext([diagnostic])
        parameters = types.CodeActionParams(self._document(), diagnostic.range, context)
        return list(await self.client.text_document_code_action_async(parameters) or [])

    def _document(self) -> types.TextDocumentIdentifier:
        return types.TextDocumentIdentifier(self.uri)

    def _at(self, before: str) -> types.Position:
        return _range(self.text, before)[1]


def _range(text: str, part: str) -> tuple[types.Position, types.Position]:
    """Where the part is, in the units of the protocol: two for a character beyond the basic plane."""
    begin = text.index(part)
    return _position(text[:begin]), _position(text[: begin + len(part)])


def _position(before: str) -> types.Position:
    line = before.rpartition("\n")[2]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def _in(text: str, place: types.Range) -> str:
    assert place.start.line == place.end.line
    line = text.split("\n")[place.start.line].encode("utf-16-le")
    return line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le")


def in_editor(folder: Path, session: Callable[[Editor], Coroutine[Any, Any, T]], **options: object) -> T:
    """Run a session with the server, which must end by itself when it is told to."""

    async def run() -> T:
        client = LanguageClient("test", "1")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        await client.start_io(sys.executable, "-m", "intentc", "lsp", env=environment)
        capabilities = types.ClientCapabilities()
        parameters = types.InitializeParams(capabilities, root_uri=folder.as_uri(), initialization_options=options)
        await asyncio.wait_for(client.initialize_async(parameters), PATIENCE)
        client.initialized(types.InitializedParams())
        try:
            return await session(Editor(client, folder / "rows.py"))
        finally:
            await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
            client.exit(None)
            await asyncio.wait_for(client.stop(), PATIENCE)

    return asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "helpers.py").write_text(HELPERS, encoding="utf-8")
    (tmp_path / "rows.py").write_text(TEXT, encoding="utf-8")
    return tmp_path


def test_a_session(folder: Path) -> None:
    """Everything, as one process answers it."""
    in_editor(folder, _session)


async def _session(editor: Editor) -> None:
    assert [each.severity for each in await editor.open(TEXT)] in ([], [types.DiagnosticSeverity.Information])
    await _hovers(editor)
    await _definitions(editor)
    await _typing(editor)
    await _wide_characters(editor)
    await _documents_of_other_kinds(editor)
    await _without_values(editor)


async def _hovers(editor: Editor) -> None:
    (code,) = compile_text(TEXT, str(editor.path)).codes
    tensor = await editor.hover("I.reduce.sum(", "v")
    assert "`v`: f32 tensor [N]" in tensor
    assert "line 19: `v = x[m, columns] * s`" in tensor and "computed from `s`, `x`" in tensor
    assert f"`rows` runs {plan_line(code)}" in tensor and plan_line(code).startswith("one program per m; on chip")
    assert "`x`: In view, f32 [M, N]" in await editor.hover("def rows(", "x")
    assert "`columns`: domain [0, N)" in await editor.hover("y[m, ", "columns")
    assert "`s`: f32 scalar" in await editor.hover("columns] * ", "s")
    assert "compile-time 2.0" in await editor.hover("doubled(v), ", "WIDTH")
    assert "I.reduce.sum(value, *, axis" in await editor.hover("I.reduce.", "sum")
    assert "The value, scaled." in await editor.hover("columns] = ", "scaled")
    assert "`total`: f32 scalar" in await editor.hover("WIDTH) / ", "total")
    nothing = types.HoverParams(types.TextDocumentIdentifier(editor.uri), types.Position(0, 0))
    assert await editor.client.text_document_hover_async(nothing) is None


async def _definitions(editor: Editor) -> None:
    for before, name, line in [
        ("y[m, columns] = ", "scaled", 8), ("doubled(v), ", "WIDTH", 4), ("I.reduce.sum(", "v", 18),
        ("v = ", "x", 14), ("for m in I.parallel(I.domain(0, ", "M", 15), ("    return value * ", "factor", 8),
        ("columns] * ", "s", 14),
    ]:  # fmt: skip
        found = await editor.definition(before)
        assert found is not None and (found.uri, found.range.start.line) == (editor.uri, line), before
        assert _in(TEXT, found.range) == name
    other = await editor.definition("= scaled(")
    assert other is not None and other.uri == (editor.path.parent / "helpers.py").as_uri()
    assert _in(HELPERS, other.range) == "doubled"
    assert await editor.definition("intent.") is None


async def _typing(editor: Editor) -> None:
    """A name is misspelt, mended by the edit that is offered, and the text broken and mended again."""
    (found,) = [each for each in await editor.replace("I.reduce.sum", "I.reduce.summ") if each.code == "INT102"]
    assert found.severity == types.DiagnosticSeverity.Error and found.source == "intentc"
    assert _in(editor.text, found.range) == "I.reduce.summ" and "did you mean" in found.message
    (action,) = await editor.actions(found)
    assert action.title == "Write reduce.sum" and action.kind == types.CodeActionKind.QuickFix and action.is_preferred
    assert action.edit is not None and action.edit.changes is not None
    (edit,) = action.edit.changes[editor.uri]
    assert _in(editor.text, edit.range) == "reduce.summ"
    assert not [each for each in await editor.replace("reduce.summ", edit.new_text) if each.severity == 1]
    assert "`v`: f32 tensor [N]" in await editor.hover("I.reduce.sum(", "v")
    for letter in "abc":  # faster than each version could be analysed
        end = _range(editor.text, "columns] * s")[1]
        editor.type(end, end, letter)
        editor.text = editor.text.replace("columns] * s", f"columns] * s{letter}", 1)
    (found,) = [each for each in await editor.diagnostics() if each.severity == types.DiagnosticSeverity.Error]
    assert _in(editor.text, found.range) == "scba"
    await editor.replace("scba", "s")
    (broken,) = await editor.replace("/ total", "/ (total")
    assert broken.code == "INT001"
    assert not [each for each in await editor.replace("/ (total", "/ total") if each.severity == 1]


async def _wide_characters(editor: Editor) -> None:
    text = TEXT.replace("v = x[m, columns] * s", 'v = I.cast(x[m, columns], I.dtype("😋é")) * ss')
    (found,) = [each for each in await editor.open(text, "wide.py") if each.severity == 1]
    assert _in(text, found.range) == 'I.dtype("😋é")'
    (unknown,) = [each for each in await editor.replace("😋é", "f32") if each.severity == 1]
    assert (unknown.code, _in(editor.text, unknown.range)) == ("INT101", "ss")
    commented = TEXT.replace("total = I.reduce", "total = 'é😋'.x + I.reduce")
    (found,) = [each for each in await editor.open(commented, "commented.py") if each.severity == 1]
    assert _in(commented, found.range) == "'é😋'.x"


async def _documents_of_other_kinds(editor: Editor) -> None:
    found = await editor.open(TEXT, uri="untitled:Untitled-1")
    assert [each.code for each in found if each.severity == 1] == ["INT118"]  # nothing is beside it
    assert await editor.open("import numpy\nx = (1\n", "other.py") == []
    host = "from intent import compile\nfrom rows import rows\n\nprint(compile(rows))\n"
    assert await editor.open(host, "host.py") == []


CONSTEXPR = TEXT.replace("s: I.f32,", "s: I.f32, wide: I.Constexpr[int],")


async def _without_values(editor: Editor) -> None:
    assert [each.code for each in await editor.open(CONSTEXPR, "constexpr.py") if each.severity == 1] == ["INT113"]


def test_values_of_compile_time_parameters_are_given_by_the_editor(folder: Path) -> None:
    async def session(editor: Editor) -> list[types.Diagnostic]:
        return await editor.open(CONSTEXPR)

    assert not [each for each in in_editor(folder, session, constexpr={"wide": 4}) if each.severity == 1]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    for package in ("pygls", "lsprotocol"):
        text = f"raise ModuleNotFoundError(\"No module named '{package}'\", name='{package}')"
        (tmp_path / f"{package}.py").write_text(text, encoding="utf-8")
    outcome = intentc("lsp", directory=tmp_path, path=[tmp_path, ROOT])
    outcome.assert_clean()
    assert outcome.status == 2 and "pip install 'intentc[lsp]'" in outcome.errors
