"""The language server: an editor's side of `documents`. This is the only module that imports `pygls`.

Documents are analysed while they are typed, by a process of its own within limits; what is asked of one meanwhile is
answered by its last analysis.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import PositionCodec

from intent.records import dataclass, field
from intentc import __version__
from intentc.serving.calls import CallFailed, Calls

DELAY: Final = 0.15  # seconds without a change before a document is analysed
SOURCE: Final = "intentc"
_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "unsupported": types.DiagnosticSeverity.Error,
    "note": types.DiagnosticSeverity.Information,
}
_NOTHING: Final[dict[str, Any]] = {"diagnostics": [], "hovers": [], "texts": [], "definitions": []}


@dataclass(slots=True)
class Document:
    """A text that is open, as it is now, and what was said of the last text that was analysed."""

    text: str
    version: int | None
    analysis: Analysis | None = None
    running: asyncio.Task[None] | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """What `documents.analyse` says of a text, and that text's lines."""

    lines: tuple[str, ...]
    data: Mapping[str, Any]


@dataclass(slots=True)
class Editor:
    """One editor's session."""

    server: LanguageServer
    calls: Calls
    constexpr: Mapping[str, object] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)

    # ----------------------------------------------------------------------------------------------------- documents
    def initialize(self, parameters: types.InitializeParams) -> None:
        options = parameters.initialization_options
        given = options.get("constexpr") if isinstance(options, dict) else None
        self.constexpr = given if isinstance(given, dict) else {}

    async def opened(self, parameters: types.DidOpenTextDocumentParams) -> None:
        self._changed(parameters.text_document.uri, parameters.text_document.version)

    async def changed(self, parameters: types.DidChangeTextDocumentParams) -> None:
        self._changed(parameters.text_document.uri, parameters.text_document.version)

    async def saved(self, parameters: types.DidSaveTextDocumentParams) -> None:
        """Other documents may import the file."""
        for uri, document in self.documents.items():
            document.analysis = None
            self._changed(uri, document.version)

    async def closed(self, parameters: types.DidCloseTextDocumentParams) -> None:
        uri = parameters.text_document.uri
        self.documents.pop(uri, None)
        self.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def shutdown(self, _: None) -> None:
        await self.calls.close()

    def _changed(self, uri: str, version: int | None) -> None:
        text = self.server.workspace.get_text_document(uri).source
        document = self.documents.setdefault(uri, Document(text, version))
        document.text, document.version = text, version
        if document.running is None or document.running.done():
            document.running = asyncio.ensure_future(self._analyse(uri, document))

    async def _analyse(self, uri: str, document: Document) -> None:
        """Analyse the document until its latest version has been."""
        done: object = document  # no version is it
        while self.documents.get(uri) is document and done != (document.text, document.version):
            await asyncio.sleep(DELAY)
            done = text, version = document.text, document.version
            data = await self._answer(uri, text)
            if self.documents.get(uri) is document:
                document.analysis = found = Analysis(tuple(_lines(text)), data)
                diagnostics = [self._diagnostic(each, found.lines) for each in data["diagnostics"]]
                published = types.PublishDiagnosticsParams(uri, diagnostics, version)
                self.server.text_document_publish_diagnostics(published)

    async def _answer(self, uri: str, text: str) -> Mapping[str, Any]:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        arguments = {"text": text, "path": path or "untitled.py", "constexpr": self.constexpr, "alone": path is None}
        try:
            return (await self.calls.call("analyse", arguments))[1]
        except CallFailed as failed:
            self.server.window_log_message(types.LogMessageParams(types.MessageType.Warning, f"{path}: {failed}"))
            return _NOTHING

    def _diagnostic(self, found: Mapping[str, Any], lines: Sequence[str]) -> types.Diagnostic:
        message = found["message"] + (f"\n{found['help']}" if found["help"] else "")
        severity = _SEVERITIES[found["severity"]]
        return types.Diagnostic(self._span(found["span"], lines), message, severity, code=found["code"], source=SOURCE)

    # ---------------------------------------------------------------------------------------------------- requests
    async def hover(self, parameters: types.HoverParams) -> types.Hover | None:
        analysis = self._analysis(parameters.text_document.uri)
        if analysis is None:
            return None
        line, column = self._place(parameters.position, analysis.lines)
        for at, begin, end, text in analysis.data["hovers"]:
            if at == line and begin <= column <= end:
                content = types.MarkupContent(types.MarkupKind.Markdown, analysis.data["texts"][text])
                return types.Hover(content, self._range((at, begin), (at, end), analysis.lines))
        return None

    async def definition(self, parameters: types.DefinitionParams) -> types.Location | None:
        uri = parameters.text_document.uri
        analysis = self._analysis(uri)
        if analysis is None:
            return None
        line, column = self._place(parameters.position, analysis.lines)
        for each in analysis.data["definitions"]:
            at, begin, end = each["place"]
            if at == line and begin <= column <= end:
                return self._location(uri, each, analysis.lines)
        return None

    def _location(self, uri: str, link: Mapping[str, Any], lines: Sequence[str]) -> types.Location | None:
        line, begin, end = link["target"]
        if link["path"] is not None:
            uri = from_fs_path(link["path"]) or uri
            lines = _lines(Path(link["path"]).read_text(encoding="utf-8", errors="replace"))
        return types.Location(uri, self._range((line, begin), (line, end), lines))

    async def code_actions(self, parameters: types.CodeActionParams) -> list[types.CodeAction]:
        uri = parameters.text_document.uri
        analysis = self._analysis(uri)
        if analysis is None:
            return []
        return [
            self._action(uri, each, analysis.lines)
            for each in analysis.data["diagnostics"]
            if each["fix"] and _touch(self._span(each["span"], analysis.lines), parameters.range)
        ]

    def _action(self, uri: str, found: Mapping[str, Any], lines: Sequence[str]) -> types.CodeAction:
        fix = found["fix"]
        edit = types.TextEdit(self._span(fix["span"], lines), fix["replacement"])
        return types.CodeAction(
            f"Write {fix['replacement']}" if fix["replacement"] else "Remove it",
            types.CodeActionKind.QuickFix,
            [self._diagnostic(found, lines)],
            is_preferred=True,
            edit=types.WorkspaceEdit({uri: [edit]}),
        )

    def _analysis(self, uri: str) -> Analysis | None:
        document = self.documents.get(uri)
        return None if document is None else document.analysis

    # ------------------------------------------------------------------------------------------------------ places
    @property
    def _codec(self) -> PositionCodec:
        return self.server.workspace.position_codec

    def _place(self, position: types.Position, lines: Sequence[str]) -> tuple[int, int]:
        found = self._codec.position_from_client_units(lines, position)
        return found.line, found.character

    def _range(self, first: tuple[int, int], last: tuple[int, int], lines: Sequence[str]) -> types.Range:
        first_position, last_position = (
            self._codec.position_to_client_units(lines, types.Position(*each)) for each in (first, last)
        )
        return types.Range(first_position, last_position)

    def _span(self, span: Mapping[str, int], lines: Sequence[str]) -> types.Range:
        """Of a diagnostic; the first character of the file if it has no place."""
        first = (max(span["line"] - 1, 0), max(span["column"] - 1, 0))
        last = (max(span["end_line"] - 1, 0), max(span["end_column"] - 1, 0))
        return self._range(first, last, lines)


def _lines(text: str) -> list[str]:
    """As the compiler counts them."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _touch(first: types.Range, second: types.Range) -> bool:
    """Whether two ranges have a place in common; their ends count."""
    return _key(first.start) <= _key(second.end) and _key(second.start) <= _key(first.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def make_server() -> LanguageServer:
    """The server, ready to be started."""
    server = LanguageServer("intentc", __version__)
    editor = Editor(server, Calls("intentc.serving.documents", confined=False))
    features: dict[str, Callable[..., object]] = {
        types.INITIALIZE: editor.initialize,
        types.TEXT_DOCUMENT_DID_OPEN: editor.opened,
        types.TEXT_DOCUMENT_DID_CHANGE: editor.changed,
        types.TEXT_DOCUMENT_DID_SAVE: editor.saved,
        types.TEXT_DOCUMENT_DID_CLOSE: editor.closed,
        types.TEXT_DOCUMENT_HOVER: editor.hover,
        types.TEXT_DOCUMENT_DEFINITION: editor.definition,
        types.SHUTDOWN: editor.shutdown,
    }
    for name, function in features.items():
        server.feature(name)(partial(function))  # a function of its own, which can be marked
    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix])
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(partial(editor.code_actions))
    return server
