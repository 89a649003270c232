"""nvcc's options for programs of the emulated device, and builds by make and CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.cuda.compile_program import Toolkit, make_toolkit
from grader.cuda.nvcc_options import fit_options
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache

OURS = [
    *("-arch=sm_90", "-cudart", "shared", "-g", "--no-compress"),
    *("-L/t/lib64", "-I/t/include", "-lineinfo"),
]
PROGRAM = """
#include <cuda_profiler_api.h>
__global__ void fill(int *x) { x[threadIdx.x] = 1; }
int main() { int *x; cudaMalloc(&x, 128); fill<<<1, 32>>>(x); return cudaDeviceSynchronize(); }
"""
MAKEFILE = """
CUDA_PATH ?= /usr/local/none
CUDA_DIR = /usr/local/none
NVCC = $(CUDA_PATH)/bin/nvcc -ccbin g++-4.8
program: main.o host.o
	g++ -o $@ $^ -L$(CUDA_DIR)/lib64 -lcudart_static -ldl
main.o: main.cu
	$(NVCC) -gencode arch=compute_35,code=sm_35 -O3 -c $< -o $@
host.o: host.cpp
	g++ -I$(CUDA_DIR)/include -c $< -o $@
"""
CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_ARCHITECTURES 35)
add_executable(program main.cu host.cpp)
target_link_libraries(program PRIVATE CUDA::cudart)
"""


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-O3 a.cu -o a", "-O3 a.cu -o a"),
        ("-arch sm_35 a.cu", "a.cu"),
        ("-arch=native -code=sm_35 a.cu", "a.cu"),
        ("-gencode arch=compute_30,code=sm_30 --generate-code=arch=compute_50 a.cu", "a.cu"),
        ("-cudart static --cudart=none a.cu -lcudart_static", "a.cu -lcudart"),
        ("-ccbin g++-4.8 --compiler-bindir=/none/g++ a.cu", "a.cu"),
        ("-ccbin sh a.cu", "-ccbin=sh a.cu"),
        ("-Xcompiler -g -D -g a.cu", "-Xcompiler -g -D -g a.cu"),
        ("-lineinfo -g a.cu -rdc=true", "a.cu -rdc=true"),
    ],
)
def test_removes_the_options_that_do_not_fit(given: str, kept: str) -> None:
    assert fit_options(given.split(), "sm_90", "/t") == [*OURS, *kept.split()]


def test_keeps_a_variant_of_the_architecture() -> None:
    given = ["-gencode", "arch=compute_90a,code=sm_90a", "a.cu"]
    assert fit_options(given, "sm_90", "/t")[0] == "-arch=sm_90a"
    assert fit_options(given, "sm_80", "/t")[0] == "-arch=sm_80"


def test_device_debug_excludes_line_information() -> None:
    assert "-lineinfo" not in fit_options(["-G", "a.cu"], "sm_90", "/t")


@pytest.fixture(scope="module")
def toolkit(tmp_path_factory: pytest.TempPathFactory) -> Toolkit:
    """A toolkit with an empty runtime: programs are linked, and not run."""
    folder = tmp_path_factory.mktemp("toolkit")
    nvcc = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ)).nvcc
    real = next(nvcc.path.resolve().parents[1].glob("lib*/libcudart.so.13"))
    libraries = folder / "lib"
    libraries.mkdir()
    for name in ("libcudart.so", "libcudart.so.13"):
        (libraries / name).symlink_to(real)
    made = make_toolkit(nvcc, folder / "cache")
    assert not made.is_linked
    made.link_to(libraries)
    assert made.is_linked
    return made


def build(toolkit: Toolkit, folder: Path, *command: str) -> None:
    (folder / "main.cu").write_text(PROGRAM)
    (folder / "host.cpp").write_text("#include <cuda_runtime.h>\n")
    environment = toolkit.environment(os.environ, "sm_90", folder)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_builds_with_the_names_of_old_toolkits(toolkit: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    build(toolkit, tmp_path, "make")
    assert b"libcudart.so.13" in (tmp_path / "program").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_cmake_builds(toolkit: Toolkit, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    build(toolkit, tmp_path, "sh", "-c", "cmake -B b && cmake --build b")
    assert b"libcudart.so.13" in (tmp_path / "b" / "program").read_bytes()


def test_nvcc_is_used_by_its_name(toolkit: Toolkit, tmp_path: Path) -> None:
    build(toolkit, tmp_path, "nvcc", "-arch=sm_52", "-cudart=static", "main.cu", "-o", "program")
    program = (tmp_path / "program").read_bytes()
    assert b"libcudart.so.13" in program
    assert b"sm_90" in program
