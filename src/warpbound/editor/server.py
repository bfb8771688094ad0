"""The server of the Language Server Protocol: `warpbound lsp`, over standard input and output.

Source   pygls 2.1 and lsprotocol 2025 (extra `editor`).
Models   A source is analysed when it is opened and when it is saved. Until the next answer, hints move with their
         lines, and changed lines have none.
"""

import asyncio
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

from warpbound.editor.annotations import Answered, Finding, Hint, findings, hints
from warpbound.errors import MissingTool, WarpboundError, install
from warpbound.limited_process import LimitedProcess
from warpbound.quick_dataclasses import dataclass
from warpbound.result.refusal import refusal

Answers = Callable[[str, str | None], list[Answered]]  # of a file and the board where nothing else names one

NAME = "warpbound"
TIME_LIMIT_S = 60.0


@dataclass(frozen=True)
class Noted:
    """The hints of a document, and the text that they belong to."""

    lines: tuple[str, ...]
    hints: tuple[Hint, ...]


class Notes:
    """Hints of the open documents. answers : is called in a process of its own, ended after limit_s."""

    def __init__(self, answers: Answers, gpu: str | None, limit_s: float) -> None:
        self.answers, self.gpu = answers, gpu
        self.process = LimitedProcess(limit_s)
        self.noted: dict[str, Noted] = {}
        self.newest: dict[str, int] = {}
        self.one_at_a_time = asyncio.Lock()

    async def renew(self, uri: str, path: str, text: str) -> list[Finding] | None:
        """Findings of the document as it is now; None where it was saved again meanwhile."""
        own_version = self.newest[uri] = self.newest.get(uri, 0) + 1
        async with self.one_at_a_time:
            if self.newest.get(uri) != own_version:
                return None
            try:
                answers = await self.process.answer(self.answers, path, self.gpu)
            except WarpboundError as problem:
                answers = [Answered(0, refusal(None, "", problem))]
        if self.newest.get(uri) != own_version:
            return None
        self.noted[uri] = Noted(tuple(text.splitlines()), tuple(hints(answers, text)))
        return findings(answers, text)

    def at(self, uri: str, lines: Sequence[str]) -> list[Hint]:
        """The hints at the present places of their lines."""
        noted = self.noted.get(uri)
        if noted is None:
            return []
        places = moved(noted.lines, lines)
        return [
            Hint(places[hint.line - 1] + 1, hint.text, hint.details)
            for hint in noted.hints
            if hint.line - 1 in places
        ]

    def forget(self, uri: str) -> None:
        self.noted.pop(uri, None)
        self.newest.pop(uri, None)


def moved(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Place before -> place now of every line that is still there, from 0."""
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def server(answers: Answers, gpu: str | None = None, limit_s: float = TIME_LIMIT_S) -> Any:
    """The server. gpu : the board where neither comment nor launch file names one; a client's
    `initializationOptions.gpu` replaces it. Raises MissingTool where pygls is not installed."""
    try:
        from lsprotocol import types
        from pygls.lsp.server import LanguageServer
    except ImportError as missing:
        raise MissingTool("The server needs pygls.", install("editor")) from missing
    from importlib.metadata import version

    language_server = LanguageServer(NAME, version(NAME))
    notes = Notes(answers, gpu, limit_s)

    @language_server.feature(types.INITIALIZE)
    def initialize(parameters: Any) -> None:
        client_options = parameters.initialization_options
        if isinstance(client_options, dict) and isinstance(client_options.get("gpu"), str):
            notes.gpu = client_options["gpu"]

    @language_server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(parameters: Any) -> None:
        await _renew(language_server, notes, parameters.text_document.uri)

    @language_server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(parameters: Any) -> None:
        await _renew(language_server, notes, parameters.text_document.uri)

    @language_server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(parameters: Any) -> None:
        notes.forget(parameters.text_document.uri)

    @language_server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(parameters: Any) -> list[Any]:
        document = language_server.workspace.get_text_document(parameters.text_document.uri)
        first, last = parameters.range.start.line, parameters.range.end.line
        hints_in_range = [hint for hint in _current(notes, document) if first <= hint.line - 1 <= last]
        return [_inlay(types, hint, document) for hint in hints_in_range]

    @language_server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(parameters: Any) -> Any:
        document = language_server.workspace.get_text_document(parameters.text_document.uri)
        here = [hint for hint in _current(notes, document) if hint.line - 1 == parameters.position.line]
        return types.Hover(contents="\n\n".join(f"{hint.text}\n\n{hint.details}" for hint in here)) if here else None

    @language_server.feature(types.SHUTDOWN)
    def ended(*_: Any) -> None:
        notes.process.end()

    return language_server


def _current(notes: Notes, document: Any) -> list[Hint]:
    return notes.at(document.uri, document.source.splitlines())


async def _renew(language_server: Any, notes: Notes, uri: str) -> None:
    """Answer a document and tell the client."""
    from lsprotocol import types

    document = language_server.workspace.get_text_document(uri)
    current_notes = await notes.renew(uri, document.path, document.source)
    if current_notes is None:
        return
    diagnostics = [_diagnostic(types, finding, document) for finding in current_notes]
    language_server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics))
    if _refreshes(language_server.client_capabilities):
        language_server.workspace_inlay_hint_refresh(None)


def _refreshes(capabilities: Any) -> bool:
    workspace = capabilities.workspace
    return bool(workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support)


def _inlay(types: Any, hint: Hint, document: Any) -> Any:
    end = types.Position(line=hint.line - 1, character=_width(_line(document, hint.line)))
    return types.InlayHint(position=end, label=hint.text, tooltip=hint.details, padding_left=True)


def _diagnostic(types: Any, finding: Finding, document: Any) -> Any:
    line = _line(document, finding.line)
    indent = len(line) - len(line.lstrip())
    start = types.Position(line=finding.line - 1, character=_width(line[:indent]))
    end = types.Position(line=finding.line - 1, character=_width(line))
    severity = {
        "error": types.DiagnosticSeverity.Error,
        "warning": types.DiagnosticSeverity.Warning,
        "information": types.DiagnosticSeverity.Information,
    }[finding.severity]
    return types.Diagnostic(
        range=types.Range(start=start, end=end), severity=severity, code=finding.code, source=NAME,
        message=finding.message,
    )  # fmt: skip


def _line(document: Any, number: int) -> str:
    lines = document.source.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _width(text: str) -> int:
    """Characters as the protocol counts them: units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2
