"""`grade lsp` as an editor sees it: a real server on standard input and output, and a client that
opens and saves files."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls is not installed: pip install -e '.[editor]'")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.support.mistakes import MISTAKES

ROOT = Path(__file__).resolve().parents[2]
STARTER = (ROOT / "starter" / "transpose.cu").read_text(encoding="utf-8")
RACE = next(each.text for each in MISTAKES if each.name == "barrier")
ENDLESS = next(each.text for each in MISTAKES if each.name == "loop")
SECONDS = 120.0
Server = Callable[..., contextlib.AbstractAsyncContextManager["Editor"]]


class Editor:
    """A client with what the server has sent. `folder` is the workspace."""

    def __init__(self, folder: Path) -> None:
        self.client = LanguageClient("test-editor", "1")
        self.folder = folder
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.progress: asyncio.Queue[Any] = asyncio.Queue()
        self.logged: asyncio.Queue[str] = asyncio.Queue()
        client = self.client

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published.put_nowait(params)

        @client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(params: types.WorkDoneProgressCreateParams) -> None: ...

        @client.feature(types.PROGRESS)
        def report(params: types.ProgressParams) -> None:
            self.progress.put_nowait(params.value)

        @client.feature(types.WINDOW_LOG_MESSAGE)
        def log(params: types.LogMessageParams) -> None:
            self.logged.put_nowait(params.message)

    @property
    def pid(self) -> int:
        assert self.client._server is not None
        return self.client._server.pid

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> None:
        item = types.TextDocumentItem(self.uri(name), "cuda-cpp", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def save(self, name: str, text: str) -> None:
        """Changes the whole document, and saves it."""
        document = types.VersionedTextDocumentIdentifier(2, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        self.client.text_document_did_save(saved)

    def close(self, name: str) -> None:
        document = types.TextDocumentIdentifier(self.uri(name))
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self) -> list[types.Diagnostic]:
        """The next published diagnostics."""
        return list((await asyncio.wait_for(self.published.get(), SECONDS)).diagnostics)

    async def hover(self, name: str, line: int) -> str:
        """The hover text of a line (from 1)."""
        place = types.Position(line - 1, 4)
        document = types.TextDocumentIdentifier(self.uri(name))
        found = await self.client.text_document_hover_async(types.HoverParams(document, place))
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value

    async def end_of_progress(self) -> tuple[list[str], str]:
        """The stages until a bar ends, and its last message."""
        stages = []
        while True:
            value = await asyncio.wait_for(self.progress.get(), SECONDS)
            kind = value["kind"] if isinstance(value, dict) else value.kind
            message = value.get("message") if isinstance(value, dict) else value.message
            if kind == "end":
                return stages, message or ""
            if kind == "report":
                stages.append(message or "")


@contextlib.asynccontextmanager
async def editing(folder: Path, **options: object) -> AsyncIterator[Editor]:
    """An editor with a server that counts, and models no times unless `options` say so."""
    editor = Editor(folder)
    environ = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    await editor.client.start_io(sys.executable, "-m", "grader", "lsp", env=environ, cwd=folder)
    window = types.WindowClientCapabilities(work_done_progress=True)
    await editor.client.initialize_async(
        types.InitializeParams(
            types.ClientCapabilities(window=window),
            process_id=os.getpid(),
            root_uri=folder.as_uri(),
            initialization_options={"model": False, "device": "emulated", **options},
        )
    )
    editor.client.initialized(types.InitializedParams())
    server = editor.client._server
    assert server is not None
    assert server.stderr is not None
    errors = asyncio.create_task(server.stderr.read())
    try:
        yield editor
        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        assert await asyncio.wait_for(server.wait(), SECONDS) == 0
        assert len(await errors) < 10_000
    finally:
        if server.returncode is None:
            server.kill()
        await asyncio.wait_for(editor.client.stop(), SECONDS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with the transpose, whose spec shows the code of fixes."""
    (tmp_path / "starter").mkdir()
    (tmp_path / "starter" / "transpose.cu").write_text(STARTER)
    exercise = tmp_path / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", exercise)
    spec = json.loads((exercise / "spec.json").read_text())
    spec["what_if"] = "full"
    (exercise / "spec.json").write_text(json.dumps(spec))
    return tmp_path


def children_of(pid: int) -> Iterator[int]:
    """The descendants of a process."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(path.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    yield from found - {pid}


async def gone(pids: set[int]) -> bool:
    """Whether these processes end within some seconds."""
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        await asyncio.sleep(0.1)
    return False


def codes(found: list[types.Diagnostic]) -> list[object]:
    return [each.code for each in found]


def test_a_starter_gets_marks_progress_hover_text_and_fixes(folder: Path) -> None:
    async def edit() -> None:
        async with editing(folder, fixSeconds=3) as editor:
            editor.open("transpose.cu", STARTER)
            found = await editor.diagnostics()
            assert codes(found) == ["points", "bank_conflicts"], found
            points, conflicts = found
            assert points.severity is types.DiagnosticSeverity.Information
            assert "transpose: " in points.message
            line = conflicts.range.start.line
            assert STARTER.split("\n")[line].lstrip().startswith("out[")
            assert "costs" in conflicts.message
            assert "(grade explain bank-conflicts)" in conflicts.message
            hover = await editor.hover("transpose.cu", line + 1)
            assert "wavefronts" in hover
            assert "would do" in hover
            assert "`grade explain bank-conflicts`" in hover
            stages, end = await editor.end_of_progress()
            assert "checking cases" in stages
            assert end == points.message.partition(". Next")[0]
            document = types.TextDocumentIdentifier(editor.uri("transpose.cu"))
            context = types.CodeActionContext([conflicts])
            actions = await editor.client.text_document_code_action_async(
                types.CodeActionParams(document, conflicts.range, context)
            )
            assert actions
            first = actions[0]
            assert isinstance(first, types.CodeAction)
            assert "rows of 33, not 32" in first.title
            assert first.edit is not None
            assert first.edit.changes is not None
            (edit,) = first.edit.changes[editor.uri("transpose.cu")]
            assert "TILE + 1" in edit.new_text or "33" in edit.new_text

    asyncio.run(edit())


def test_a_grading_whose_process_dies_is_marked(folder: Path) -> None:
    async def edit() -> None:
        async with editing(folder, fixSeconds=0) as editor:
            editor.open("transpose.cu", ENDLESS)
            await asyncio.wait_for(editor.progress.get(), SECONDS)
            while not (pids := [*children_of(editor.pid)]):
                await asyncio.sleep(0.02)
            os.kill(min(pids), signal.SIGKILL)
            (notice,) = await editor.diagnostics()
            assert "ended without a result" in notice.message

    asyncio.run(edit())


def test_saves_syntax_errors_and_files_without_an_exercise(folder: Path) -> None:
    async def edit() -> None:
        async with editing(folder, fixSeconds=0) as editor:
            editor.open("transpose.cu", ENDLESS)
            await asyncio.wait_for(editor.progress.get(), SECONDS)  # it has begun
            editor.save("transpose.cu", "__global__ void transpose(float *out) { nothing; }\n")
            editor.save("transpose.cu", RACE)
            _, end = await editor.end_of_progress()
            assert end == "ended by a newer version"
            found = await editor.diagnostics()
            race = next(each for each in found if each.code == "race")
            (related,) = race.related_information or ()
            assert related.location.range.start.line != race.range.start.line

            editor.save("transpose.cu", STARTER.replace("__syncthreads();", "__syncthreads()"))
            found = await editor.diagnostics()
            error = next(each for each in found if each.code == "compile_errors")
            assert error.severity is types.DiagnosticSeverity.Error
            assert error.range.start.line > 0
            editor.close("transpose.cu")
            assert await editor.diagnostics() == []

            editor.open("mine.cu", "__global__ void mine(float *x) { }\n")
            assert await editor.diagnostics() == []
            message = await asyncio.wait_for(editor.logged.get(), SECONDS)
            assert "mine.cu belongs to no exercise" in message
            editor.open("other.cu", "// exercise: transpos\n")
            (notice,) = await editor.diagnostics()
            assert "did you mean 'transpose'?" in notice.message

    asyncio.run(edit())


@pytest.mark.parametrize(("how", "stage"), [("kill", "checking"), ("close", "compiling")])
def test_no_process_is_left_when_the_server_ends_during_a_grading(
    how: str, stage: str, folder: Path
) -> None:
    async def edit() -> None:
        async with editing(folder) as editor:
            editor.open("transpose.cu", ENDLESS)
            while True:
                value = await asyncio.wait_for(editor.progress.get(), SECONDS)
                if stage in str(value):
                    break
            pids = {*children_of(editor.pid)}
            assert pids
            server = editor.client._server
            assert server is not None
            if how == "kill":
                server.kill()
            else:
                assert server.stdin is not None
                server.stdin.close()
            await asyncio.wait_for(server.wait(), SECONDS)
            assert await gone(pids)
            raise EOFError

    with pytest.raises(EOFError):
        asyncio.run(edit())
