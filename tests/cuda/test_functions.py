"""The rows of functions.tsv describe the functions that libcudart and libcuda export."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cuda.build import library_folder
from grader.cuda.functions import (
    DRIVER,
    LIBRARIES,
    RUNTIME,
    Library,
    base_name,
    declared_names,
    header_folder,
    read_functions,
    read_versions,
    write_forwards,
    write_sources,
)
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache

FILES = {RUNTIME: "libcudart.so.13", DRIVER: "libcuda.so.1"}
OTHERS = re.compile(
    r"__cuda\w+"
    r"|cu(da)?Profiler(Initialize|Start|Stop)|cuGraphInstantiateWithFlags"  # of other headers, by a macro
    r"|cudaCreateChannelDesc|cudaGetError(Name|String)"  # return no error
)
NUMBERS = [*range(1000), 10000, -1, 123456]

each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)


@pytest.fixture(scope="module")
def folder() -> Path:
    return library_folder()


@pytest.fixture(scope="module")
def include() -> Path:
    return header_folder(find_toolchain(prefer_wheel=True, cache=default_cache(os.environ)).nvcc)


@each_library
def test_rows_are_complete_and_sorted(library: Library) -> None:
    rows = read_functions(library)
    names = [row.name for row in rows]
    assert names == sorted(set(names))
    for row in rows:
        assert re.fullmatch(r"\d+\.\d", row.since or "0.0"), row
        assert re.fullmatch(r"[A-Z].*\.", row.behaviour), row


@each_library
def test_rows_are_functions_of_the_headers(library: Library, include: Path) -> None:
    declared = declared_names(library, include)
    unknown = {row.name for row in read_functions(library)} - declared
    assert all(OTHERS.fullmatch(name) for name in unknown), unknown


@each_library
def test_each_row_is_a_function_of_the_library(library: Library, folder: Path) -> None:
    text = subprocess.check_output(
        ["nm", "-D", "--defined-only", folder / FILES[library]], text=True
    )
    strong = {line.split()[2].split("@")[0] for line in text.splitlines() if " T " in line}
    exported = {base_name(name) for name in strong if not name.startswith("grader_")}
    assert exported == {row.name for row in read_functions(library)}


def test_the_headers_know_the_first_versions_of_the_driver(include: Path) -> None:
    versions = read_versions(include)
    assert versions["cuCtxCreate"] == [2000, 3020, 11040, 12050]
    assert {row.name for row in read_functions(DRIVER)} <= versions.keys()


def test_the_runtime_calls_supported_functions_of_the_driver(folder: Path) -> None:
    text = subprocess.check_output(
        ["nm", "-D", "--undefined-only", folder / FILES[RUNTIME]], text=True
    )
    called = {base_name(name) for name in re.findall(r" U (cu[A-Z]\w+)", text)}
    assert called <= {row.name for row in read_functions(DRIVER)}


def test_names_and_texts_of_errors_are_nvidias(folder: Path, include: Path) -> None:
    theirs = include.parent / "lib" / FILES[RUNTIME]
    if not theirs.exists():
        pytest.skip("NVIDIA's runtime is not installed")
    assert _describe_errors(folder / FILES[RUNTIME]) == _describe_errors(theirs)


def _describe_errors(library: Path) -> str:
    """In a process of its own: two libraries of one name exclude each other."""
    return subprocess.check_output([sys.executable, "-c", _DESCRIBE, library], text=True)


_DESCRIBE = f"""
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for describe in (library.cudaGetErrorName, library.cudaGetErrorString):
    describe.restype = ctypes.c_char_p
    for number in {NUMBERS}:
        print(number, describe(number).decode())
"""


def test_an_unsupported_function_prints_its_name_once(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    library = ctypes.CDLL(str(folder / FILES[RUNTIME]))
    assert [library.cudaDeviceGraphMemTrim(0), library.cudaDeviceGraphMemTrim(0)] == [801, 801]
    assert capfd.readouterr().err.count("cudaDeviceGraphMemTrim") == 1


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"),
        ("cudaMemcpyAsync_ptsz", "cudaMemcpyAsync"),
        ("cudaMemcpy2D", "cudaMemcpy2D"),
    ],
)
def test_variants_belong_to_one_row(symbol: str, name: str) -> None:
    assert base_name(symbol) == name


def test_older_headers_declare_fewer_functions(include: Path, tmp_path: Path) -> None:
    """A function that the headers of an older toolkit lack has no forward; the others keep theirs."""
    older = tmp_path / "include"
    shutil.copytree(include, older)
    header = older / "cuda_runtime_api.h"
    text = header.read_text(encoding="utf-8")
    assert "cudaFuncGetParamCount(" in text
    header.write_text(text.replace("cudaFuncGetParamCount(", "laterFunction("), encoding="utf-8")
    assert "cudaFuncGetParamCount" in write_forwards(include)
    forwards = write_forwards(older)
    assert "cudaFuncGetParamCount" not in forwards
    assert "cudaThreadExchangeStreamCaptureMode" in forwards


def test_older_headers_of_the_driver_declare_fewer_functions(include: Path, tmp_path: Path) -> None:
    older = tmp_path / "include"
    shutil.copytree(include, older)
    header = older / "cuda.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace("cuFuncGetParamCount(", "laterFunction("), encoding="utf-8")
    name = "API cuFuncGetParamCount("
    assert name in write_sources(DRIVER, include)["modules.cpp"]
    sources = write_sources(DRIVER, older)["modules.cpp"]
    assert name not in sources
    assert "API cuKernelGetName(" in sources
