"""libcuda alone: a C++ program over the driver, which starts its own session."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from grader.cuda.build import CHECKED, library_folder
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache

SOURCE = Path(__file__).parent / "driver" / "corners.cpp"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    nvcc = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ)).nvcc
    include = next(root for root in nvcc.include_roots if (root / "cuda.h").exists())
    made = tmp_path / "corners"
    options = ("-std=c++17", f"-I{include}", f"-L{library_folder()}", "-lcuda")
    subprocess.run(["g++", str(SOURCE), "-o", str(made), *options], check=True)
    return made


def test_the_driver_obeys_the_rules_of_a_gpu_without_a_server(program: Path) -> None:
    folder = str(library_folder())
    environment = {**os.environ, "LD_LIBRARY_PATH": folder}
    environment.pop("GRADER_CUDA_SOCKET", None)
    # device memory has fixed addresses, which a library of the program could take
    command = ["setarch", "-R", str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_sources_compile_without_warnings() -> None:
    assert library_folder((*CHECKED, "-Werror")).is_dir()
