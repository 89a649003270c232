"""One cache of compilations for a whole run. Tests that need more than every machine has run only if
an option asks for them. A run of all tests leaves them out, except for tests of a GPU, which it
skips; a run of named tests skips them."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.cli import BLAS_WAIT, NEW_OBJECTS
from grader.cuda.build import library_folder
from grader.devices.choose import BUILD_PYCUDA, has_pycuda
from grader.emulator.isa.operands import parse_operand
from grader.emulator.timing.measured import Correction
from grader.errors import ToolMissing
from grader.grading.tools import keep_tools_ready
from grader.plumbing.cache import default_cache
from grader.records import Score
from tests.support.compiling import find_tools
from tests.support.shipped import fill_cache, keep_others, read_shipped
from tests.support.shipped_answers import give_answers, keep_answers, note_answers, read_answers

LONGEST_FIRST = (
    "test_submissions.py",
    "test_gpu_flow.py",
    "test_host_program.py",
    "test_compile.py",
    "test_opcodes_convert.py",
    "test_run.py",
    "test_corpus.py",
    "test_commands.py",
    "test_diagnostics.py",
    "test_linear.py",
    "test_remote_device.py",
    "test_autograder.py",
    "test_parts.py",
    "test_buffer_memory.py",
    "test_bad_input.py",
    "test_kernel_run.py",
    "test_check.py",
    "test_opcodes_half.py",
    "test_runtime.py",
    "test_hidden_sizes.py",
    "test_shipped.py",
    "test_pipeline.py",
    "test_handout_commands.py",
    "test_rules.py",
    "test_truth.py",
    "test_sampling.py",
    "test_cli.py",
    "test_preprocess.py",
    "test_fuzz.py",
    "test_opcodes_logic.py",
    "test_opcodes_integer.py",
    "test_opcodes_floating.py",
    "test_baselines.py",
    "test_kills.py",
)
"""A module stays on one worker: these begin, so that no worker is left with a long one when the
others have ended (`python benchmarks/suite.py` says which)."""
OPTIONS = {
    "gpu": "needs a GPU",
    "slow": "takes minutes",
    "cluster": "starts a cluster",
    "faults": "injects faults of the machine",
    "browser": "needs Chromium and Playwright",
    "toolkits": "downloads CUDA compilers",
    "container": "builds a container image",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--run-gpu",
        action="store_true",
        help="run the tests that need an NVIDIA GPU and PyCUDA as well",
    )
    parser.addoption(
        "--run-slow", action="store_true", help="run the tests that take minutes as well"
    )
    parser.addoption(
        "--run-cluster",
        action="store_true",
        help="run the tests that start a Dask cluster or Slurm as well (extra `cluster`, slurm-wlm)",
    )
    parser.addoption(
        "--run-faults",
        action="store_true",
        help="inject all faults of the machine as well, not only the quick ones",
    )
    parser.addoption(
        "--run-browser",
        action="store_true",
        help="open reports in Chromium as well (extra `browser`)",
    )
    parser.addoption(
        "--run-toolkits",
        action="store_true",
        help="try the compilers of other CUDA toolkits as well (2.5 GB by pip, once)",
    )
    parser.addoption(
        "--run-container",
        action="store_true",
        help="build the container image as well (Debian's mmdebstrap and buildah, as root)",
    )
    parser.addoption(
        "--keep-compiled",
        action="store_true",
        help="ship what this run compiles, beside what is shipped where it runs named tests only "
        "(see tests/support/shipped.py)",
    )
    parser.addoption(
        "--cache-in",
        type=Path,
        metavar="DIR",
        help="keep the run's cache there (and begin with what it holds), not in a folder of its own",
    )
    parser.addoption(
        "--all-levels",
        action="store_true",
        help="run the corpus at every optimisation level of ptxas, not only at -O3",
    )
    parser.addoption(
        "--all-targets",
        action="store_true",
        help="run the whole corpus on every emulated GPU, not only a sample of it",
    )


def pytest_collection_finish() -> None:
    """A search for unreachable cycles skips the tests and the modules."""
    gc.freeze()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One worker more than processors, because many tests wait for other processes. One worker with
    --run-gpu: Nsight Compute refuses a second profiler, and concurrent kernels disturb measured
    times.
    """
    return 1 if config.getoption("--run-gpu") else len(os.sched_getaffinity(0)) + 1


@pytest.fixture
def simulated_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of the simulation alone: corrections by times of similar kernels hide its rules."""
    monkeypatch.setattr(
        "grader.emulator.timing.launch_time.correct",
        lambda *_, **__: Correction(1.0, 1.0, 1.0),
    )


def share_libraries(users: Path, own: Path) -> None:
    """Gives a cache folder the user's runtime of the emulator, CUDA libraries and compiled test
    programs: compiling takes a minute of processor time, and their names contain a digest of all
    sources."""
    own.mkdir(parents=True, exist_ok=True)
    for name in ("cuda", "runtime", "test-programs"):
        (users / name).mkdir(parents=True, exist_ok=True)
        if not (own / name).exists():
            (own / name).symlink_to(users / name)


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a cache folder of its own, or the one of --cache-in: xdist's workers and the
    programs that tests start find it by their environment.

    It begins with the machine code that is shipped, where the compiler is the one that made it.
    Processes of the tests wait and search for unreachable cycles as rarely as those of `grade`
    (NumPy reads the variable when a worker loads it).
    """
    os.environ.update(BLAS_WAIT)
    gc.set_threshold(NEW_OBJECTS)
    if "MUTANT_UNDER_TEST" in os.environ:
        parse_operand.cache_clear()  # mutmut forks from a run that has parsed the operands
    keeps = config.getoption("--keep-compiled")
    if keeps and hasattr(config, "workerinput"):
        note_answers(default_cache(os.environ))
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(RuntimeFirst())
    if (folder := config.getoption("--cache-in")) is None:
        folder = Path(tempfile.mkdtemp(prefix="grader-tests-"))
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))
    share_libraries(default_cache(os.environ), default_cache({"XDG_CACHE_HOME": str(folder)}))
    os.environ["XDG_CACHE_HOME"] = str(folder.absolute())
    cache, shipped = default_cache(os.environ), read_shipped()
    with contextlib.suppress(ToolMissing):
        nvcc, _ = find_tools()
        answers = read_answers(nvcc)
        if keeps and runs_all(config):  # so that what no test needs any more goes
            shipped, answers = replace(shipped, others={}), ()
        fill_cache(cache, shipped)
        give_answers(cache, answers, nvcc)
        if keeps:
            note_answers(cache)
            config.add_cleanup(partial(keep_others, cache))
            config.add_cleanup(partial(keep_answers, cache, besides=answers))


def markers_of(item: pytest.Item) -> set[str]:
    return {marker.name for marker in item.iter_markers()}


def runs_all(config: pytest.Config) -> bool:
    """Whether a run is of all tests, and not of some that are named."""
    if (of_controller := getattr(config, "workerinput", None)) is not None:
        return bool(of_controller["runs_all"])
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    return not (named or config.option.keyword or config.option.markexpr)


MAKE_RUNTIME = "from grader.devices.emulated.runtime import emulator_runtime; emulator_runtime()"
RUNTIME_MADE: pytest.StashKey[subprocess.Popen[bytes]] = pytest.StashKey()


class RuntimeFirst:
    """Workers know whether all tests run. The emulator's runtime is compiled while xdist's workers
    collect, and is there before they begin: else each of them would compile it. A run of single
    modules may not need it. A machine without a compiler shows in the tests."""

    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        node.workerinput["runs_all"] = runs_all(node.config)

    def pytest_xdist_setupnodes(self, config: pytest.Config) -> None:
        if any(".py" in argument for argument in config.args):
            return
        made = subprocess.Popen([sys.executable, "-c", MAKE_RUNTIME], stderr=subprocess.DEVNULL)
        config.stash[RUNTIME_MADE] = made

    def pytest_xdist_node_collection_finished(self, node: Any) -> None:  # noqa: ANN401 - of xdist
        if (made := node.config.stash.get(RUNTIME_MADE, None)) is not None:
            made.wait()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test shows why its gradings ended: their messages are not in the assertions."""
    report = yield
    if report.failed and call.excinfo is not None:
        found = {
            id(value): value
            for entry in call.excinfo.traceback
            for value in entry.frame.f_locals.values()
            if isinstance(value, Score)
        }
        for score in found.values():
            text = f"{score.status.value}: {score.message} {score.advice}\n{score.detail}"
            report.sections.append((f"score of {score.submission_name}", text))
    return report


@pytest.fixture(scope="session")
def cache() -> Path:
    """The run's cache of compilations. Tests of the cache itself have folders of their own."""
    return default_cache(os.environ)


@pytest.fixture(scope="session", autouse=True)
def ready_tools(request: pytest.FixtureRequest) -> Iterator[None]:
    """A worker's tools stay ready, as in a batch. What is shipped comes from each tool as it is."""
    if request.config.getoption("--keep-compiled"):
        yield
        return
    with keep_tools_ready():
        yield


@pytest.fixture(scope="module")
def cuda_driver(request: pytest.FixtureRequest) -> Iterator[None]:
    """The driver of the tests that use PyCUDA: the GPU's with --run-gpu, else the emulated one,
    with the compiler of the other tests and not with that of the machine's toolkit."""
    if request.config.getoption("--run-gpu"):
        yield
        return
    if not has_pycuda():
        pytest.skip(f"PyCUDA is not installed: `{BUILD_PYCUDA}` builds it without a GPU")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", str(library_folder()))
        patch.setenv("GRADER_NVCC", str(find_tools()[0].path))
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {
        marker: why for marker, why in OPTIONS.items() if not config.getoption(f"--run-{marker}")
    }
    marks = {item: markers_of(item) for item in items}
    if runs_all(config) and not config.getoption("--run-gpu"):
        # 6,000 tests: to skip each costs 2.6 ms of processor time in its worker and in pytest
        markers = left_out.keys() - {"gpu"}
        config.hook.pytest_deselected(items=[item for item in items if markers & marks[item]])
        items[:] = [item for item in items if not markers & marks[item]]
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(places)))
    for item in items:
        on_gpu = config.getoption("--run-gpu") and "cuda_driver" in getattr(
            item, "fixturenames", ()
        )
        if on_gpu:
            item.add_marker("gpu")
            marks[item] |= {"gpu"}
        for marker, why in left_out.items():
            if on_gpu and marker == "slow":
                continue  # slow on the emulated driver alone
            if marker in marks[item]:
                item.add_marker(pytest.mark.skip(reason=f"{why}: --run-{marker}"))
