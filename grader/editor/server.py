"""The language server: grades a document when it is opened and saved, and publishes the result. A
newer save ends a grading that still runs. One grading runs at a time."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from grader import __version__
from grader.editor.diagnostics import (
    Result,
    make_actions,
    make_diagnostics,
    make_hover,
    make_notice,
    summarise,
)
from grader.editor.jobs import Answer, Graded, GradeJob, NotGraded, Settings
from grader.editor.start import serve
from grader.plumbing.children import Child
from grader.records import Progress, WhatIf

SECTION = "cudaGrader"
"""The section of the settings in an editor's configuration."""
_SEED_BITS = 32
_NO_ANSWER = "the process of the grading ended without a result: save the file again"


@dataclass
class Gradings:
    """The results and running gradings of all open documents, by URI. `has_ended`: the editor has
    asked the server to end, and reads nothing more."""

    settings: Settings
    results: dict[str, Result] = field(default_factory=dict)
    running: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    has_ended: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


def read_settings(given: object, known: Settings) -> Settings:
    """The settings with the values of an editor: an object with the fields `exercise`, `device`,
    `model` and `fixSeconds`, also in the section `cudaGrader`. Other values are ignored."""
    if not isinstance(given, Mapping):
        return known
    if isinstance(section := given.get(SECTION), Mapping):
        given = section
    exercise, device, model = (given.get(name) for name in ("exercise", "device", "model"))
    seconds = given.get("fixSeconds")
    return replace(
        known,
        exercise=(exercise or None) if isinstance(exercise, str) else known.exercise,
        device=device if isinstance(device, str) and device else known.device,
        model=model if isinstance(model, bool) else known.model,
        fix_seconds=seconds if isinstance(seconds, int | float) else known.fix_seconds,
    )


class _Server(LanguageServer):
    """Prints errors of the protocol on standard error. pygls would send them to the editor, and
    would then report that it cannot send to an editor that has gone, without an end."""

    def report_server_error(self, error: Exception, source: object) -> None:
        with contextlib.suppress(OSError):
            print(f"grade lsp: {error}", file=sys.stderr)


def make_server(settings: Settings) -> LanguageServer:
    """The server with its handlers. `settings` are defaults; the editor's replace them."""
    server = _Server("cuda-exercise-grader", __version__)
    all_of = Gradings(replace(settings, seed=secrets.randbits(_SEED_BITS)))

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        all_of.settings = read_settings(params.initialization_options, all_of.settings)

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        all_of.has_ended = True
        for task in all_of.running.values():
            task.cancel()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        all_of.settings = read_settings(params.settings, all_of.settings)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        _start(server, all_of, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        _start(server, all_of, params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        if (task := all_of.running.pop(uri, None)) is not None:
            task.cancel()
        all_of.results.pop(uri, None)
        _publish(server, uri, [])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        uri, line = params.text_document.uri, params.position.line
        result, now = all_of.results.get(uri), _lines_of(server, uri)
        if result is None or now[line : line + 1] != result.lines[line : line + 1]:
            return None
        text = make_hover(result, line + 1)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    kinds = types.CodeActionOptions([types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        result = all_of.results.get(uri)
        if result is None or _lines_of(server, uri) != result.lines:
            return []
        return make_actions(result, uri, params.context.diagnostics)

    return server


def _lines_of(server: LanguageServer, uri: str) -> list[str]:
    """The lines of a document as it is in the editor."""
    return str(server.workspace.get_text_document(uri).source).split("\n")


def _publish(server: LanguageServer, uri: str, found: list[types.Diagnostic]) -> None:
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


# --- gradings -------------------------------------------------------------------------------------


def _start(server: LanguageServer, all_of: Gradings, uri: str) -> None:
    """Grades a document, instead of an older version that is being graded."""
    path = to_fs_path(uri)
    if path is None or not path.endswith(".cu"):
        return
    before = all_of.running.get(uri)
    if before is not None:
        before.cancel()
    text = str(server.workspace.get_text_document(uri).source)
    job = GradeJob(Path(path), text, all_of.settings)
    task = asyncio.create_task(_grade(server, all_of, uri, job, before))
    task.add_done_callback(lambda ended: _report(server, ended))
    all_of.running[uri] = task


def _report(server: LanguageServer, ended: asyncio.Task[None]) -> None:
    """Logs the exception of a grading, which is a bug of the grader."""
    if not ended.cancelled() and (error := ended.exception()) is not None:
        text = f"unexpected {type(error).__name__}: {error}"
        server.window_log_message(types.LogMessageParams(types.MessageType.Error, text))


async def _grade(
    server: LanguageServer,
    all_of: Gradings,
    uri: str,
    job: GradeJob,
    before: asyncio.Task[None] | None,
) -> None:
    if before is not None:
        await asyncio.wait([before])
    async with all_of.turn:
        bar = await _Bar.open(server, f"Grading {job.path.name}")
        end, was_answered = "ended by a newer version", False
        child = Child(serve, quiet=True)  # not in a thread: a cancelled task would not end it
        try:
            with contextlib.suppress(BrokenPipeError):  # it has already ended, without an answer
                child.connection.send(job)
            while (answer := await _receive(child)) is not None:
                _take(server, all_of, uri, job, answer, bar)
                was_answered |= not isinstance(answer, Progress)
            result = all_of.results.get(uri)
            end = summarise(result) if result is not None and was_answered else "not graded"
            if not was_answered:
                all_of.results.pop(uri, None)
                _publish(server, uri, [make_notice(_NO_ANSWER)])
        finally:
            await asyncio.shield(asyncio.to_thread(child.end))
            if not all_of.has_ended:
                bar.end(end)


async def _receive(child: Child) -> Answer | None:
    """The next message of the child; None after the last."""
    with contextlib.suppress(EOFError, OSError):
        answer: Answer = await asyncio.to_thread(child.connection.recv)
        return answer
    return None


def _take(
    server: LanguageServer, all_of: Gradings, uri: str, job: GradeJob, answer: Answer, bar: _Bar
) -> None:
    """Shows an answer of the child."""
    if isinstance(answer, Progress):
        bar.report(answer)
    elif isinstance(answer, WhatIf):
        all_of.results[uri] = replace(all_of.results[uri], what_if=answer)
    elif isinstance(answer, Graded):
        result = Result(job.text, answer.exercise, answer.score)
        all_of.results[uri] = result
        _publish(server, uri, make_diagnostics(result, uri))
    else:
        _refuse(server, all_of, uri, answer)


def _refuse(server: LanguageServer, all_of: Gradings, uri: str, answer: NotGraded) -> None:
    """A file without an exercise is no mistake: a log entry is enough."""
    all_of.results.pop(uri, None)
    _publish(server, uri, [make_notice(answer.message)] if answer.is_error else [])
    kind = types.MessageType.Warning if answer.is_error else types.MessageType.Info
    server.window_log_message(types.LogMessageParams(kind, answer.message))


class _Bar:
    """The progress of a grading in the editor; in an editor without such bars, nothing."""

    def __init__(self, server: LanguageServer, token: str | None) -> None:
        self._server, self._token = server, token

    @classmethod
    async def open(cls, server: LanguageServer, title: str) -> _Bar:
        window = server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return cls(server, None)
        token = secrets.token_hex(8)
        await asyncio.shield(server.work_done_progress.create_async(token))
        begin = types.WorkDoneProgressBegin(title, cancellable=False, percentage=0)
        server.work_done_progress.begin(token, begin)
        return cls(server, token)

    def report(self, step: Progress) -> None:
        """Show the stage, and its part that is done where that is known."""
        part = 100 * step.done // step.total if step.total else None
        shown = types.WorkDoneProgressReport(message=step.stage, percentage=part)
        if self._token is not None:
            self._server.work_done_progress.report(self._token, shown)

    def end(self, message: str) -> None:
        """Close the bar with a last message."""
        if self._token is not None:
            end = types.WorkDoneProgressEnd(message=message)
            self._server.work_done_progress.end(self._token, end)
