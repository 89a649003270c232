"""The extension for Visual Studio Code: its settings are those of the server, and its problem matcher
reads the lines of `--format gcc`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.cli import main
from grader.editor.jobs import Settings
from grader.report.platforms.gcc import format_gcc
from tests.support.factories import CROOKED_LINES, make_graded

FOLDER = Path(__file__).resolve().parents[2] / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def test_its_settings_are_those_of_the_server() -> None:
    given = MANIFEST["contributes"]["configuration"]["properties"]
    names = {name.removeprefix("cudaGrader.") for name in given} - {"command"}
    assert names <= set(vars(Settings()))
    assert given["cudaGrader.command"]["default"] == "grade"
    source = (FOLDER / "src" / "extension.ts").read_text(encoding="utf-8")
    assert all(f'settings.get("{name}"' in source for name in names)


def test_its_problem_matcher_reads_every_line() -> None:
    (matcher,) = MANIFEST["contributes"]["problemMatchers"]
    pattern = re.compile(matcher["pattern"]["regexp"])
    lines = format_gcc(make_graded(lines=CROOKED_LINES)).splitlines()
    found = [pattern.fullmatch(line) for line in lines]
    assert all(found)
    assert found[0] is not None
    assert found[0][6] == "bank_conflicts"
    assert found[0][5].endswith("(grade explain bank-conflicts)")


def test_the_lock_file_has_every_package_and_no_address() -> None:
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))
    assert lock["packages"][""]["dependencies"] == MANIFEST["dependencies"]
    assert lock["packages"][""]["devDependencies"] == MANIFEST["devDependencies"]
    assert not [name for name, each in lock["packages"].items() if "resolved" in each]


def test_its_types_are_right() -> None:
    if shutil.which("npm") is None or not (FOLDER / "node_modules").is_dir():
        pytest.skip("the extension's packages are not installed: npm ci in editors/vscode")
    ran = subprocess.run(["npm", "run", "check"], cwd=FOLDER, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_without_pygls_the_command_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["lsp"]) == 3
    assert "pip install 'cuda-exercise-grader[editor]'" in capsys.readouterr().err
