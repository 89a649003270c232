"""Tools that stay ready: the same results as from each tool by itself, and nothing left behind."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

from grader.grading.tools import Toolchain, find_toolchain, keep_tools_ready
from grader.records import CompileErrors, Submission, ToolLimits
from grader.submission.source_file import read_submission
from grader.toolchain import front_end
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.compilation import NotCompiled, find_artifacts
from grader.toolchain.cubin import read_labels
from grader.toolchain.elf import Elf
from grader.toolchain.line_table import read_lines
from grader.toolchain.nvdisasm import parse_disassembly
from grader.toolchain.ready import ReadyRun, ReadyTool, Start
from grader.toolchain.workspace import SOURCE_NAME

from .conftest import make_submission

ROOT = Path(__file__).parents[2]
FILES = (
    "solutions/transpose.cu",
    "solutions/softmax.cu",
    "tests/submissions/gemm_tensor_cores/passed--warp_groups.cu",
    "tests/submissions/reduction/failed--cooperative_groups_one_each.cu",
)
TEXTS = {
    "a warning": "__global__ void k(float *o) { int unused; o[0] = 1; }\n",
    "a warning of the preprocessor": "#warning watch this\n__global__ void k(float *o) { o[0] = 1; }\n",
    "a function of the system": '#include <cstdio>\n__global__ void k(int *o) { printf("%d", o[0]); }\n',
    "functions that are called": """
__device__ __noinline__ float far_away(float x) { return x * sinf(x) / (x + 3); }
__global__ void k(float *o) { o[0] = far_away(o[1]) / o[2]; }
__global__ void l(float *o) { o[0] = far_away(o[1]); }
""",
    "the address of a function": """
typedef float (*Map)(float);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float half(float x) { return x / 2; }
__global__ void k(float *o, int n) { Map map = n > 3 ? twice : half; o[0] = map(o[1]); }
""",
    "lines of another name": '#line 7 "headers.h"\n__global__ void k(float *o) { o[0] = __LINE__; }\n',
    "a marker of its own": '# 1 "submission.cu"\n__global__ void k(float *o) { o[0] = __LINE__; }\n',
    "the names of the stand-in's files": '#define rest 3\n__global__ void k(float *o) { o[0] = rest; }\n',
    "letters beyond ASCII": "// größer\n__global__ void k(float *größe) { größe[0] = 1; }\n",
}


@pytest.fixture(scope="module")
def plain() -> Toolchain:
    """Every tool starts for itself."""
    tools = find_toolchain(prefer_wheel=True, cache=None)
    assert isinstance(tools.run, ReadyRun)
    return replace(tools, run=tools.run._run)


@pytest.fixture(scope="module")
def ready() -> Iterator[Toolchain]:
    with keep_tools_ready():
        yield find_toolchain(prefer_wheel=True, cache=None)


def make(tools: Toolchain, source: Submission, limits: ToolLimits | None = None) -> Any:  # noqa: ANN401 - Artifacts | NotCompiled
    return find_artifacts(tools.order(source, "sm_90", limits or ToolLimits()))


def facts_of(made: Artifacts | NotCompiled) -> tuple[object, ...]:
    assert isinstance(made, Artifacts)
    elf = Elf(made.cubin)
    instructions = parse_disassembly(made.instructions, read_labels(elf), elf.code, {})
    return elf.code, read_lines(elf, SOURCE_NAME), instructions, made.demangled, made.warnings


def sources() -> dict[str, Submission]:
    files = {name: read_submission(ROOT / name) for name in FILES}
    return {name: each for name, each in files.items() if isinstance(each, Submission)} | {
        name: make_submission(text) for name, text in TEXTS.items()
    }


@pytest.mark.parametrize("name", [*FILES, *TEXTS])
def test_a_ready_compiler_makes_the_same(name: str, plain: Toolchain, ready: Toolchain) -> None:
    source = sources()[name]
    assert facts_of(make(ready, source)) == facts_of(make(plain, source))


def test_nvcc_itself_does_not_run(ready: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.toolchain.compilation.run_nvcc", pytest.fail)
    monkeypatch.setattr("grader.toolchain.nvdisasm._list", pytest.fail)
    assert isinstance(make(ready, make_submission(TEXTS["functions that are called"])), Artifacts)


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(float *o) { o[0] = missing; }\n",
        "#include <missing.h>\n__global__ void k(float *o) { o[0] = 1; }\n",
        "__global__ void k(float *o) { __shared__ float s[99999]; s[0] = 1; o[0] = s[o[1] > 2]; }\n",
    ],
)
def test_mistakes_have_the_messages_of_nvcc(text: str, plain: Toolchain, ready: Toolchain) -> None:
    source = make_submission(text)
    made = make(ready, source)
    assert not isinstance(made, Artifacts)
    assert made == make(plain, source)


def test_threads_may_ask_at_the_same_time(plain: Toolchain, ready: Toolchain) -> None:
    each = [make_submission(f"__global__ void k(float *o) {{ o[{n}] = {n}; }}\n") for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda source: facts_of(make(ready, source)), each))
    assert made == [facts_of(make(plain, source)) for source in each]


def test_a_compilation_without_end_ends_at_its_limit(ready: Toolchain) -> None:
    """The limit is nvcc's; the tool that hung is replaced."""
    endless = make_submission(
        "template <int N> struct T { static const int v = T<N - 1>::v + T<N - 2>::v; };\n"
        "__global__ void k(int *o) { o[0] = T<100000000>::v; }\n" * 1
    )
    made = make(ready, endless, ToolLimits(wall_seconds=2.0))
    assert not isinstance(made, Artifacts)
    good = make_submission("__global__ void k(float *o) { o[0] = 4.5f; }\n")
    assert isinstance(make(ready, good), Artifacts)


def test_a_stopped_compilation_leaves_the_tool_as_it_is(ready: Toolchain) -> None:
    source = read_submission(ROOT / FILES[2])
    assert isinstance(source, Submission)
    assert isinstance(make(ready, make_submission(TEXTS["a warning"])), Artifacts)
    assert isinstance(ready.run, ReadyRun)
    before = dict(ready.run._tools)
    stop = Event()
    Timer(0.3, stop.set).start()
    make(ready, source, ToolLimits(stop=stop))
    assert {start: tool for start, tool in ready.run._tools.items() if start in before} == before
    assert not any(tool.is_broken for tool in before.values())


def test_a_tool_that_does_not_start_is_not_asked(plain: Toolchain) -> None:
    tool = ReadyTool(Start(("false",), (), "code", 1), plain.run, ToolLimits())
    assert tool.ask(b"", ("stdout",), ToolLimits()) is None
    assert not tool.is_broken  # it never worked, and is not started again
    tool.close()


def test_a_tool_that_ends_is_started_again(plain: Toolchain) -> None:
    run = ReadyRun(plain.run)
    start = Start(("/bin/sh", "-c", "read x < code; exec cat code"), (("code", "\n"),), "code", 9)
    first = run.tool(start, ToolLimits())
    assert first.ask(b"", ("stdout",), ToolLimits()) is None
    first._has_answered = True
    assert run.tool(start, ToolLimits()) is not first
    run.close()


def test_nothing_is_left(plain: Toolchain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = processes()
    with keep_tools_ready():
        tools = find_toolchain(prefer_wheel=True, cache=None)
        assert isinstance(make(tools, make_submission(TEXTS["a warning"])), Artifacts)
        assert list(tmp_path.iterdir())
        assert processes() - before
    time.sleep(0.1)
    assert not processes() - before
    assert list(tmp_path.iterdir()) == []


def test_a_tool_ends_with_its_process(tmp_path: Path) -> None:
    """Also where the process is killed."""
    before = processes()
    if (child := os.fork()) == 0:
        with keep_tools_ready():
            tools = find_toolchain(prefer_wheel=True, cache=None)
            make(tools, make_submission(TEXTS["a warning"]))
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    until = time.monotonic() + 20
    while processes() - before and time.monotonic() < until:
        time.sleep(0.1)
    assert not processes() - before


def test_a_fork_starts_its_own(ready: Toolchain) -> None:
    assert isinstance(make(ready, make_submission(TEXTS["a warning"])), Artifacts)
    if (child := os.fork()) == 0:
        os._exit(isinstance(find_toolchain(prefer_wheel=True, cache=None).run, ReadyRun))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_unknown_order_of_steps_leaves_the_work_to_nvcc(
    plain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_end, "_find_steps", lambda compiler, workspace: None)
    with keep_tools_ready():
        tools = find_toolchain(prefer_wheel=True, cache=None)
        source = make_submission(TEXTS["a warning"])
        assert facts_of(make(tools, source)) == facts_of(make(plain, source))
        assert isinstance(
            make(tools, make_submission("__global__ void k(float *o) { o[0] = no; }\n")),
            CompileErrors,
        )


def processes() -> set[int]:
    """Tools that run now."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if b"rest.h" in command or b"submission.cup" in command or b"-json\0code" in command:
            found.add(int(path.parent.name))
    return found
