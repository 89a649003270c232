"""Neovim and Emacs start `grade lsp` by the lines of docs/editors.md and show its diagnostics."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.instant import ROOT

LIMIT_S = 200
FOUND, BROKEN = "line 20 : bank conflicts: costs 20 of 60 points", 'expected a ")" at the end'
NEOVIM = """
local function wait_for(text)
  local lines = {}
  vim.wait(90000, function()
    lines = {}
    for _, each in ipairs(vim.diagnostic.get(0)) do
      lines[#lines + 1] = "line " .. each.lnum + 1 .. " : " .. each.message
    end
    return table.concat(lines):find(text, 1, true) ~= nil
  end, 200)
  io.stdout:write(table.concat(lines, "\\n") .. "\\n")
end
wait_for("bank conflicts: costs")
vim.api.nvim_buf_set_lines(0, -1, -1, false, { "int broken(" })
vim.cmd("write")
wait_for("expected a")
vim.cmd("qa!")
"""
EMACS = """
(defun show ()
  (flymake-start)
  (mapconcat (lambda (each) (format "line %d : %s" (line-number-at-pos (flymake-diagnostic-beg each))
    (replace-regexp-in-string "^grade \\\\[[^]]*\\\\]: " "" (flymake-diagnostic-text each))))
    (flymake-diagnostics) "\\n"))
(defun wait-for (text)
  (let ((end (+ (float-time) 90)))
    (while (and (< (float-time) end) (not (string-match-p text (show))))
      (accept-process-output nil 0.2)))
  (message "%s" (show)))
(find-file "transpose.cu")
(run-hooks 'post-command-hook)
(wait-for "bank conflicts: costs")
(goto-char (point-max))
(insert "int broken(\\n")
(save-buffer)
(wait-for "expected a")
"""


def find_editor(name: str, least: tuple[int, int]) -> str:
    """The program, or a reason to skip."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"it needs {name}")
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"(\d+)\.(\d+)", shown.stdout)
    assert version is not None
    if (int(version[1]), int(version[2])) < least:
        pytest.skip(f"it needs {name} {least[0]}.{least[1]} or later")
    return program


def read_lines(language: str) -> str:
    """The lines of docs/editors.md for an editor."""
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs/editors.md").read_text(), re.S)
    assert len(found) == 1
    return str(found[0])


@pytest.mark.parametrize("name", ["nvim", "emacs"])
def test_the_documented_lines_show_diagnostics_at_open_and_save(name: str, tmp_path: Path) -> None:
    program = find_editor(name, (0, 8) if name == "nvim" else (29, 1))
    conflicts = ROOT / "tests/submissions/transpose/failed--conflicting_tile.cu"
    shutil.copy(conflicts, tmp_path / "transpose.cu")
    if name == "nvim":
        (tmp_path / "probe.lua").write_text(NEOVIM)
        (tmp_path / "init.lua").write_text(read_lines("lua"))
        options = ["-u", "init.lua", "--headless", "transpose.cu", "-c", "luafile probe.lua"]
    else:
        (tmp_path / "init.el").write_text(read_lines("lisp") + EMACS)
        options = ["-Q", "--batch", "-l", "./init.el"]
    folders = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, *options],
        cwd=tmp_path,
        env={**os.environ, **folders, "PATH": path},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    shown = done.stdout + done.stderr
    assert FOUND in shown, shown
    assert BROKEN in shown, shown
