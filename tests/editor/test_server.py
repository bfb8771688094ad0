"""The server in a session with a client of the protocol, over standard input and output."""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

pytestmark = [pytest.mark.cuda, pytest.mark.broad]  # each answer starts a process

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "warpbound", "lsp"]
CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    )
)
COPY = """// warpbound: --grid 512 --block 256 --arg n=131072
// warpbound: --arg y=f32[131072]:zeros --arg x=f32[131072]:rand
__global__ void copy(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""


class Editor:
    """What a client sees: diagnostics as they come, refreshes of hints."""

    def __init__(self):
        self.client = LanguageClient("editor", "1")
        self.published = asyncio.Queue()
        self.refreshed = 0

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(parameters):
            self.published.put_nowait(parameters)

        @self.client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(*_):
            self.refreshed += 1

    async def start(self, *words, **options):
        await self.client.start_io(*COMMAND, *words, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})
        answer = await self.client.initialize_async(
            types.InitializeParams(capabilities=CAPABILITIES, initialization_options=options or None)
        )
        self.client.initialized(types.InitializedParams())
        return answer.capabilities

    def open(self, file):
        item = types.TextDocumentItem(uri=file.as_uri(), language_id="cuda-cpp", version=1, text=file.read_text())
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))

    def change(self, file, text, version):
        document = types.VersionedTextDocumentIdentifier(uri=file.as_uri(), version=version)
        changes = [types.TextDocumentContentChangeWholeDocument(text=text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def save(self, file, text):
        file.write_text(text)
        document = types.TextDocumentIdentifier(uri=file.as_uri())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=document))

    async def diagnostics(self):
        return (await asyncio.wait_for(self.published.get(), 120)).diagnostics

    async def hints(self, file):
        whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
        document = types.TextDocumentIdentifier(uri=file.as_uri())
        answer = await self.client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
        return {hint.position.line: hint.label for hint in answer}

    async def hover(self, file, line):
        document = types.TextDocumentIdentifier(uri=file.as_uri())
        return await self.client.text_document_hover_async(types.HoverParams(document, types.Position(line, 0)))

    async def stop(self):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def session(conversation):
    """Runs a conversation in a loop of its own: the thread of the tests may hold a browser's."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, conversation()).result()


def test_a_session_of_an_editor(tmp_path):
    file = tmp_path / "copy.cu"
    file.write_text(COPY)

    async def conversation():
        editor = Editor()
        capabilities = await editor.start(gpu="h200")
        assert capabilities.inlay_hint_provider
        assert capabilities.hover_provider
        editor.open(file)
        (verdict,) = await editor.diagnostics()
        assert (verdict.code, verdict.range.start.line) == ("bottleneck", 2)
        assert "copy on h200: " in verdict.message
        first = await editor.hints(file)
        assert first[2].endswith(" binds")
        assert first[4].startswith("long scoreboard ")
        assert "4 sectors per request" in first[4]
        assert "cycles of one warp alone" in str((await editor.hover(file, 4)).contents)
        assert await editor.hover(file, 5) is None

        later = "// a line above\n" + COPY.replace("if (i < n) y[i] = x[i];", "if (i < n) y[i] = x[i * 8 % n];")
        editor.change(file, later, 2)
        moved = await editor.hints(file)
        assert moved[3] == first[2]
        assert 5 not in moved  # its line has changed
        editor.save(file, later)
        found = await editor.diagnostics()
        (waste,) = (one for one in found if one.code == "uncoalesced")
        assert waste.range.start.line == 5
        assert "32 sectors per request, 4 would do" in waste.message
        assert "32 sectors per request" in (await editor.hints(file))[5]
        assert editor.refreshed == 2

        editor.save(file, later.replace("int i", "int j"))
        (error,) = {one.message: one for one in await editor.diagnostics()}.values()
        assert error.severity == types.DiagnosticSeverity.Error
        assert 'identifier "i" is undefined' in error.message
        await editor.stop()

    session(conversation)


def test_a_launch_file_beside_a_source_and_words_that_mean_nothing(tmp_path):
    saxpy = tmp_path / "saxpy.cu"
    for name in ("saxpy.cu", "saxpy.toml"):
        (tmp_path / name).write_text((ROOT / "examples" / name).read_text())
    wrong = tmp_path / "wrong.cu"
    wrong.write_text("// warpbound: --gpus h200\n__global__ void f() {}\n")
    silent = tmp_path / "silent.cu"
    silent.write_text("__global__ void f() {}\n")

    async def conversation():
        editor = Editor()
        await editor.start()
        editor.open(saxpy)
        (verdict,) = [one for one in await editor.diagnostics() if one.code == "bottleneck"]
        assert "DRAM bandwidth binds" in verdict.message
        editor.open(wrong)
        (error,) = await editor.diagnostics()
        assert "--gpus" in error.message
        assert error.range.start.line == 0
        editor.open(silent)
        assert not await editor.diagnostics()
        assert await editor.hints(silent) == {}
        await editor.stop()

    session(conversation)
