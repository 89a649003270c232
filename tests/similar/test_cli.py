"""`grade similar`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from grader.cli import main

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = ROOT / "tests" / "submissions" / "gemm_register_blocked"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two copies, one of them renamed, and something else; and files that are nobody's."""
    copied = (SUBMISSIONS / "failed--first_barrier_missing.cu").read_text()
    files = {
        "Jane Doe/gemm.cu": copied,
        "<b>\x1b[31mjohn/gemm.cu": copied.replace("tid", "number"),
        "other/gemm.cu": (ROOT / "solutions" / "transpose.cu").read_text(),
        "__MACOSX/Jane Doe/._gemm.cu": copied,
        ".trash/gemm.cu": copied,
        "other/notes.txt": copied,
    }
    for name, text in files.items():
        path = tmp_path / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "class"


def test_finds_the_pair(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["similar", str(folder)]) == 1
    printed = capsys.readouterr().out
    assert "1 pair of 3" in printed
    assert "\x1b" not in printed


def test_writes_json_and_a_page(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "similar.html"
    assert main(["similar", str(folder), "--json", "-", "--html", str(page)]) == 1
    found = json.loads(capsys.readouterr().out)
    (pair,) = found["pairs"]
    assert pair["files"] == ["<b>\x1b[31mjohn/gemm.cu", "Jane Doe/gemm.cu"]
    assert pair["passages"][0]["lines"][0] == pair["passages"][0]["lines"][1]
    text = page.read_text()
    assert "&lt;b&gt;john/gemm.cu" in text
    assert "<b>john" not in text
    assert "default-src &#39;none&#39;" in text


def test_zips_are_read(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The class as a zip; in it a student's own zip, and one that is broken."""
    own = folder / "Jane Doe" / "work.zip"
    with zipfile.ZipFile(own, "w") as archive:
        archive.write(folder / "Jane Doe" / "gemm.cu", "deep/gemm.cu")
    (folder / "Jane Doe" / "gemm.cu").unlink()
    (folder / "other" / "broken.zip").write_bytes(b"PK no zip")
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w") as archive:
        for path in sorted(folder.rglob("*.*")):
            archive.write(path, path.relative_to(folder))
    for submissions in (export, folder):
        assert main(["similar", str(submissions), "--json", "-"]) == 1
        printed = capsys.readouterr()
        (pair,) = json.loads(printed.out)["pairs"]
        assert sorted(pair["files"])[1] == "Jane Doe/work/deep/gemm.cu"
        assert "broken.zip" in printed.err


def test_what_is_too_large_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "long.cu").write_text("int a;\n" * 200_000)
    assert main(["similar", str(folder)]) == 1
    assert "not compared: long.cu: more than 1 MiB" in capsys.readouterr().err


def test_nothing_found_is_zero(folder: Path) -> None:
    (folder / "Jane Doe" / "gemm.cu").write_text("__global__ void nothing() {}\n")
    assert main(["similar", str(folder)]) == 0


@pytest.mark.parametrize(
    "arguments", [["nowhere"], ["."], [".", "--threshold", "0"], [".", "--starter", "nowhere.cu"]]
)
def test_bad_usage(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "nowhere.cu" in arguments:
        (tmp_path / "a.cu").write_text("")
        (tmp_path / "b.cu").write_text("")
    assert main(["similar", *arguments]) == 2
