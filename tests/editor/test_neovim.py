"""The server in Neovim itself, with the settings that docs/editors.md prints."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("pygls")

from support.paths import ROOT

NEOVIM = shutil.which("nvim")
LEAST = (0, 11)  # whose settings are printed
SOURCE = """// warpbound: --grid 512 --block 256 --arg n=131072
// warpbound: --arg y=f32[131072]:zeros --arg x=f32[131072]:rand
__global__ void copy(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * 2 % n];
}
"""
ASK = """
vim.wait(300000, function() return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0 end, 200)
local place = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 4, character = 6 } }
local hovers = vim.lsp.buf_request_sync(0, "textDocument/hover", place, 60000)
local hints = vim.tbl_map(function(each)
  return { each.inlay_hint.position.line, each.inlay_hint.label }
end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
local problems = vim.tbl_map(function(each) return { each.lnum, each.message } end, vim.diagnostic.get(0))
local _, hover = next(hovers or {})
io.write(vim.json.encode({ filetype = vim.bo.filetype, hints = hints, problems = problems,
                           hover = hover and hover.result and hover.result.contents }))
vim.cmd("qa!")
"""


def new_enough():
    if NEOVIM is None:
        return False
    words = subprocess.run([NEOVIM, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"v(\d+)\.(\d+)", words)
    return found is not None and tuple(map(int, found.groups())) >= LEAST


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.skipif(not new_enough(), reason="no Neovim 0.11 or later is installed")
def test_neovim_shows_hints_problems_and_hovers_with_the_printed_settings(tmp_path):
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    settings = re.search(r"```lua\n(.*?)```", page, re.DOTALL)
    (tmp_path / "init.lua").write_text(settings[1])
    (tmp_path / "ask.lua").write_text(ASK)
    (tmp_path / "copy.cu").write_text(SOURCE)
    (tmp_path / ".git").mkdir()
    command = tmp_path / "bin" / "warpbound"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m warpbound "$@"\n')
    command.chmod(0o755)
    surroundings = {
        **os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"),
        **{f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "STATE", "DATA")},
    }  # fmt: skip
    words = [NEOVIM, "--headless", "-u", "init.lua", "copy.cu", "-c", "luafile ask.lua"]
    done = subprocess.run(words, cwd=tmp_path, env=surroundings, capture_output=True, timeout=600, check=False)
    answer = json.loads(done.stdout)
    assert answer["filetype"] == "cuda"
    hints = dict(answer["hints"])
    assert re.search(r"us, .* binds", hints[2])
    assert "8 sectors per request" in hints[4]
    assert any(line == 4 and "8 sectors per request, 4 would do" in words for line, words in answer["problems"])
    assert "cycles of one warp alone" in answer["hover"]
