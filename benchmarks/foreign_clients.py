"""How many tests of Numba's CUDA suite pass on the libraries of grader.cuda.

    python3 -m venv FOLDER && FOLDER/bin/pip install 'numba-cuda[cu13]' filecheck cffi psutil pytest
    python benchmarks/foreign_clients.py FOLDER/bin/python [--all] [--verbose] [MODULE ...]

The package numba-cuda contains its tests. A MODULE is for example `cudapy.test_atomics`; by default
a sample runs: memory, streams, launches, atomics, shuffles, linking and printing; --all
runs every module. Each module runs in a process of its own, with a limit of time.

Prints a row per module: passed, failed and skipped tests; with --verbose also the name of each
failed test. A skipped test needs something that the machine lacks, for example a second GPU. Exit
code 0. The sample takes ten minutes on one core.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from grader.cuda.build import library_folder

PACKAGE = "numba.cuda.tests"
MODULE_SECONDS = 900.0
SAMPLE = (
    *("test_array_attr", "test_context_stack", "test_cuda_array_slicing", "test_cuda_auto_context"),
    *("test_cuda_devicerecord", "test_cuda_driver", "test_cuda_memory", "test_cuda_ndarray"),
    *("test_deallocations", "test_detect", "test_events", "test_host_alloc", "test_init"),
    *("test_inline_ptx", "test_linker", "test_managed_alloc", "test_module_callbacks"),
    *("test_pinned", "test_profiler", "test_reset_device", "test_select_device", "test_streams"),
)
KERNELS = (
    *("test_alignment", "test_array", "test_array_args", "test_atomics", "test_blackscholes"),
    *("test_boolean", "test_complex_kernel", "test_constmem", "test_cooperative_groups"),
    *("test_cuda_array_interface", "test_device_func", "test_dispatcher", "test_exception"),
    *("test_forall", "test_globals", "test_idiv", "test_intrinsics", "test_laplace"),
    *("test_localmem", "test_matmul", "test_minmax", "test_montecarlo", "test_multithreads"),
    *("test_nondet", "test_powi", "test_print", "test_random", "test_record_dtype"),
    *("test_reduction", "test_sm", "test_sync", "test_transpose", "test_userexc", "test_warp_ops"),
)
_RAN = re.compile(r"^Ran (\d+) tests? in", re.MULTILINE)
_SKIPPED = re.compile(r"^(?:OK|FAILED) \(.*skipped=(\d+)", re.MULTILINE)
_FAILED = re.compile(r"^(?:FAIL|ERROR): \w+ \(([\w.]+)\)", re.MULTILINE)
_LIST = f"""
import importlib.util, pathlib
for place in importlib.util.find_spec("{PACKAGE}").submodule_search_locations:
    for path in sorted(pathlib.Path(place).glob("*/test_*.py")):
        print(f"{{path.parent.name}}.{{path.stem}}")
"""


@dataclass(frozen=True)
class Result:
    """Numbers of tests by `passed`, `failed`, `skipped`; names of the failed tests; the reason why
    the module did not come to its end."""

    counts: Counter[str]
    failed: tuple[str, ...]
    problem: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("python", type=Path)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for module in options.modules or choose_modules(options.python, every=options.all):
        result = run_module(options.python, module)
        total += result.counts
        print(f"{module:40} {describe(result.counts)}  {result.problem}".rstrip(), flush=True)
        if options.verbose:
            print(*(f"    {name}" for name in result.failed), sep="\n", flush=True)
    print(f"{'all':40} {describe(total)}")


def choose_modules(python: Path, *, every: bool) -> list[str]:
    """The modules of the sample, or all modules of the installed package."""
    if not every:
        return [f"cudadrv.{name}" for name in SAMPLE] + [f"cudapy.{name}" for name in KERNELS]
    done = subprocess.run([python, "-c", _LIST], capture_output=True, text=True, check=True)
    return done.stdout.split()


def run_module(python: Path, module: str) -> Result:
    """Runs the tests of a module; those that fail run again, each in a process of its own, because
    a fault of a kernel also fails all later tests of its process."""
    text, problem = run_tests(python, module)
    failed = tuple(name for name in dict.fromkeys(_FAILED.findall(text)) if fails(python, name))
    ran, skipped = (sum(map(int, found.findall(text))) for found in (_RAN, _SKIPPED))
    counts = {"passed": ran - skipped - len(failed), "failed": len(failed), "skipped": skipped}
    return Result(Counter(counts), failed, problem)


def fails(python: Path, test: str) -> bool:
    """Whether a test fails alone."""
    text, problem = run_tests(python, test.removeprefix(f"{PACKAGE}."))
    return bool(problem) or _FAILED.search(text) is not None


def run_tests(python: Path, name: str) -> tuple[str, str]:
    """The output of a module or a test, and the reason why it did not come to its end."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library_folder())}
    command = [python, "-W", "ignore", "-m", "unittest", f"{PACKAGE}.{name}"]
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=MODULE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "", f"more than {MODULE_SECONDS:g} s"
    ended = _RAN.search(done.stderr)
    return done.stderr, "" if ended else f"it ended with exit code {done.returncode}"


def describe(counts: Counter[str]) -> str:
    return "  ".join(f"{counts[kind]:4} {kind}" for kind in ("passed", "failed", "skipped"))


if __name__ == "__main__":
    main()
