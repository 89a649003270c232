"""Which nvcc and nvdisasm are taken, and what is said where there is none."""

import os
import shutil
from importlib.metadata import version
from pathlib import Path

import pytest

from grader.errors import ToolMissing
from grader.sandbox.process import run_tool
from grader.toolchain.nvcc import Nvcc, find_nvcc, find_nvdisasm


def make_program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


def test_the_wheels_nvcc_is_found_and_knows_its_version(nvcc: Nvcc) -> None:
    assert nvcc.path.name == "nvcc"
    assert "site-packages" in nvcc.path.parts
    assert nvcc.version == version("nvidia-cuda-nvcc")


def test_include_roots_are_the_toolkits_and_the_host_compilers(nvcc: Nvcc) -> None:
    assert any((root / "cuda_runtime.h").exists() for root in nvcc.include_roots)
    assert any((root / "cstdio").exists() for root in nvcc.include_roots)
    assert all(root == root.resolve() for root in nvcc.include_roots)


def test_the_variable_comes_first(nvcc: Nvcc, tmp_path: Path) -> None:
    wrapper = make_program(tmp_path, "my-nvcc", f'exec {nvcc.path} "$@"')
    environ = {"PATH": os.environ["PATH"], "GRADER_NVCC": str(wrapper)}
    assert find_nvcc(environ, run_tool, prefer_wheel=True).path == wrapper


def test_the_variable_that_names_no_program_is_an_error_not_a_hint() -> None:
    environ = {"PATH": os.environ["PATH"], "GRADER_NVCC": "/nonexistent/nvcc"}
    with pytest.raises(ToolMissing) as caught:
        find_nvcc(environ, run_tool, prefer_wheel=True)
    assert "GRADER_NVCC" in caught.value.advice


def test_the_one_on_path_comes_first_where_the_wheels_is_not_preferred(
    nvcc: Nvcc, tmp_path: Path
) -> None:
    on_path = make_program(tmp_path, "nvcc", f'exec {nvcc.path} "$@"')
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert find_nvcc(environ, run_tool, prefer_wheel=False).path == on_path
    assert find_nvcc(environ, run_tool, prefer_wheel=True).path == nvcc.path


def test_the_wheels_is_the_last_resort_too(nvcc: Nvcc) -> None:
    assert find_nvcc({"PATH": "/nonexistent"}, run_tool, prefer_wheel=False).path == nvcc.path


def test_no_host_compiler_is_said_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("sh", "cat"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolMissing, match="host compiler") as caught:
        find_nvcc({"PATH": str(tmp_path)}, run_tool, prefer_wheel=True)
    assert "g++" in caught.value.advice


def test_an_nvcc_that_does_not_run_is_said_so(tmp_path: Path) -> None:
    broken = make_program(tmp_path, "nvcc", "echo no licence >&2; exit 3")
    with pytest.raises(ToolMissing, match="no licence"):
        find_nvcc({"GRADER_NVCC": str(broken)}, run_tool, prefer_wheel=True)


def test_the_wheels_nvdisasm_is_found() -> None:
    assert find_nvdisasm({}, run_tool).version == version("nvidia-cuda-nvdisasm")


def test_another_nvdisasm_can_be_asked_for(tmp_path: Path) -> None:
    own = make_program(tmp_path, "my-nvdisasm", "echo 'release 13.0, V13.0.85'")
    found = find_nvdisasm({"PATH": os.environ["PATH"], "GRADER_NVDISASM": str(own)}, run_tool)
    assert (found.path, found.version) == (own, "13.0.85")
    with pytest.raises(ToolMissing) as caught:
        find_nvdisasm(
            {"PATH": os.environ["PATH"], "GRADER_NVDISASM": "/nonexistent/nvdisasm"}, run_tool
        )
    assert "GRADER_NVDISASM" in caught.value.advice


def test_the_wheels_nvdisasm_comes_before_the_toolkits(tmp_path: Path) -> None:
    for name in ("nvcc", "nvdisasm"):
        make_program(tmp_path, name, "echo 'release 13.0, V13.0.85'")
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GRADER_NVCC": str(tmp_path / "nvcc")}
    assert find_nvdisasm(environ, run_tool).version == version("nvidia-cuda-nvdisasm")
