"""Lists of kernels: resources and unknown instructions of sources and cubins."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

import grader
from grader.cli import main
from grader.errors import UsageError
from grader.explore import kernel_list
from grader.records import Submission, UnknownInstruction
from grader.submission.source_file import read_submission
from tests.support.compiling import compile_source

SOURCE = """\
__global__ void spills(float* out, int n) {
  __shared__ float tile[64];
  float own[32];
  for (int i = 0; i < 32; i++) own[i * n & 31] = out[i];
  tile[threadIdx.x] = own[n & 31];
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void fetches(cudaTextureObject_t texture, float* out) {
  int width; asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(texture)); out[0] = width;
}
__global__ void may_fetch(cudaTextureObject_t texture, float* out, int n) {
  if (n > 8)
    { int width; asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(texture)); out[0] = width; }
}
"""
QUERY = "TXQ"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("mine.cu")
    path.write_text(SOURCE)
    return path


def test_resources_and_unknown_instructions(source: Path) -> None:
    found = grader.inspect([source])
    fetches, may_fetch, spills = sorted(found.kernels, key=lambda kernel: kernel.kernel)
    assert (spills.kernel, spills.static_shared_bytes, spills.local_bytes) == ("spills", 256, 128)
    assert (spills.file, spills.unsupported) == ("mine.cu", ())
    assert spills.registers > 0
    assert spills.instructions > 32
    assert fetches.unsupported == (UnknownInstruction(QUERY, 9),)
    assert may_fetch.unsupported == (UnknownInstruction(QUERY, 13, avoidable=True),)
    assert found.errors == ()


def test_a_cubin_is_listed_as_its_source(source: Path) -> None:
    read = read_submission(source)
    assert isinstance(read, Submission)
    cubin = Path("mine.cubin")
    cubin.write_bytes(compile_source(read).cubin)
    listed = [
        [
            (each.kernel, each.registers, each.instructions)
            for each in grader.inspect([file]).kernels
        ]
        for file in (source, cubin)
    ]
    assert listed[0] == listed[1]


def test_a_broken_file_does_not_keep_the_others_back(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.cu").write_text("__global__ void k() { x }\n")
    Path("broken.cubin").write_bytes(b"no ELF file")
    files = ["broken.cu", "broken.cubin", "missing.cu", str(source)]
    assert main(["inspect", *files, "--json", "-"]) == 1
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert {kernel["kernel"] for kernel in told["kernels"]} == {"spills", "fetches", "may_fetch"}
    assert [error["file"] for error in told["errors"]] == files[:3]
    assert 'broken.cu does not compile: line 1: identifier "x" is undefined' in printed.err


def test_the_json_of_files_that_are_whole(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(source), "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"kernels"}
    assert set(told["kernels"][0]) == {
        "file",
        "kernel",
        "registers",
        "static_shared_bytes",
        "local_bytes",
        "instructions",
        "unsupported",
    }
    fetches = next(kernel for kernel in told["kernels"] if kernel["kernel"] == "fetches")
    assert fetches["unsupported"] == [{"instruction": QUERY, "line": 9, "avoidable": False}]


def test_the_table(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(source)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{QUERY} (line 9)" in printed
    assert f"{QUERY} (line 13, if reached)" in printed


def test_an_architecture_that_is_not_known(source: Path) -> None:
    with pytest.raises(UsageError, match="does not know the architecture 'sm_60'"):
        grader.inspect([source], arch="sm_60")


def test_a_cubin_that_cannot_be_listed_is_told_with_what_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_list, "MAX_CUBIN_BYTES", 2 << 20)
    folder, large = tmp_path / "folder.cubin", tmp_path / "large.cubin"
    folder.mkdir()
    large.write_bytes(bytes((2 << 20) + 1))
    missing = tmp_path / "missing.cubin"
    found = grader.inspect([folder, large, missing])
    assert found.kernels == ()
    assert [(error.file, error.advice) for error in found.errors] == [
        (str(folder), "Name a cubin of nvcc."),
        (str(large), "Name a cubin."),
        (str(missing), "Name a cubin of nvcc."),
    ]
    messages = [error.message for error in found.errors]
    assert messages[0].startswith(f"{folder} cannot be read: ")
    assert messages[1] == f"{large} is larger than 2 MiB"
    assert "No such file" in messages[2]


def test_a_cubin_of_an_architecture_that_is_not_emulated_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old.cubin"
    old.write_bytes(b"read as one of Pascal")
    monkeypatch.setattr(kernel_list, "Elf", lambda content: SimpleNamespace(arch="sm_60"))
    (error,) = grader.inspect([old]).errors
    assert "does not know the architecture 'sm_60'" in error.message
    assert error.advice
