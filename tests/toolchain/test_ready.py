"""Tools that stay ready: the same results as from each tool by itself, and nothing left behind."""

from __future__ import annotations

import contextlib
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
from grader.toolchain.dependencies import read_dependencies
from grader.toolchain.elf import Elf
from grader.toolchain.front_end import PREPROCESSED_NAME, run_preprocessor
from grader.toolchain.line_table import read_lines
from grader.toolchain.nvdisasm import begin_to_read, parse_disassembly
from grader.toolchain.ready import ReadyRun, ReadyTool, Start
from grader.toolchain.workspace import SOURCE_NAME, Compiler, open_workspace

from .conftest import make_submission

ROOT = Path(__file__).parents[2]
COOPERATIVE_GROUPS = "tests/submissions/reduction/failed--cooperative_groups_one_each.cu"
TEXTS = {
    "warnings, functions of the system, of the file and by address": """
#warning watch this
#include <cstdio>
// größer
typedef float (*Map)(float);
__device__ __noinline__ float twice(float x) { return 2 * x * sinf(x) / (x + 3); }
__device__ __noinline__ float half(float x) { return x / 2; }
__global__ void of_system(int *größe) { printf("%d", größe[0]); }
__global__ void of_file(float *o) { int unused; o[0] = twice(o[1]) / o[2]; }
__global__ void of_both(float *o) { o[0] = twice(o[1]) + half(o[2]); }
__global__ void by_address(float *o, int n) { Map map = n > 3 ? twice : half; o[0] = map(o[1]); }
""",
    "instructions of sm_90a": """
__global__ void k(float *o) { asm volatile("wgmma.fence.sync.aligned;"); o[0] = 1; }
""",
    "lines of another name, and names of the stand-in's files": """
#define rest 3
__global__ void k(float *o) { o[0] = rest; o[1] = __LINE__; }
# 1 "submission.cu"
__global__ void l(float *o) { o[0] = __LINE__; }
#line 7 "headers.h"
__global__ void m(float *o) { o[0] = __LINE__; }
""",
}
PLAIN = "__global__ void k(float *o) { int unused; o[0] = 1; }\n"


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
    cooperative = read_submission(ROOT / COOPERATIVE_GROUPS)
    assert isinstance(cooperative, Submission)
    own = {name: make_submission(text) for name, text in TEXTS.items()}
    return own | {COOPERATIVE_GROUPS: cooperative}


@pytest.mark.parametrize("name", [COOPERATIVE_GROUPS, *TEXTS])
def test_a_ready_compiler_makes_the_same(name: str, plain: Toolchain, ready: Toolchain) -> None:
    source = sources()[name]
    assert facts_of(make(ready, source)) == facts_of(make(plain, source))


def test_nvcc_itself_does_not_run(ready: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.toolchain.compilation.run_nvcc", pytest.fail)
    monkeypatch.setattr("grader.toolchain.nvdisasm._list", pytest.fail)
    assert isinstance(make(ready, make_submission(PLAIN)), Artifacts)


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void k(float *o) { o[0] = missing; }\n",
        "#include <missing.h>\n__global__ void k(float *o) { o[0] = 1; }\n",
    ],
)
def test_mistakes_have_the_messages_of_nvcc(text: str, plain: Toolchain, ready: Toolchain) -> None:
    source = make_submission(text)
    made = make(ready, source)
    assert not isinstance(made, Artifacts)
    assert made == make(plain, source)


PREPROCESSED = {
    "the solution": (ROOT / "solutions/transpose.cu").read_text(encoding="utf-8"),
    "no end of the last line": "#include <cmath>\nint x = __LINE__ + __COUNTER__;",
    "names": 'const char *a = __FILE__; // größer\n#line 3 "stand-in.cu"\nint b = __LINE__;\n',
    "markers": '# 1 "submission.cu" 1\nint a;\n# 2 "stand-in.cu" 2\nint b;\n# 1 "stand-in.cu"\n',
    "itself": "#ifndef A\n#define A\n#include __FILE__\n#endif\nint x = A + 1;\n",
    "level": "int level = __INCLUDE_LEVEL__;\n",
    "base": "const char *base = __BASE_FILE__;\n",
    "warning": "#warning look\nint x;\n",
    "once": "#pragma once\nint x;\n",
    "spliced once": "#pragma on\\\nce\nint x;\n",
    "missing": '#include "stdout"\n',
    "a pipe of the tool": '#include "../status"\n',
    "the tool's pipe": '#include "../../tool/requests"\n',
    "the stand-in": '#include "stand-in.cu"\n',
    "open": "#if 1\n",
    "error": "#error no\n",
}


@pytest.mark.parametrize("name", PREPROCESSED)
def test_a_ready_preprocessor_makes_the_same(name: str, plain: Toolchain, ready: Toolchain) -> None:
    """And answers at once."""
    results = []
    for tools in (plain, ready):
        compiler = Compiler(tools.nvcc, "sm_90", tools.run, ToolLimits(wall_seconds=5.0))
        with open_workspace(PREPROCESSED[name]) as workspace:
            completed = run_preprocessor(compiler, workspace)
            made = workspace.out / PREPROCESSED_NAME
            text = made.read_bytes() if completed.returncode == 0 else None
            files = read_dependencies(workspace) if completed.returncode == 0 else ()
            results.append((completed, text, files))
    assert results[0] == results[1]


def test_a_single_compilation_is_nvcc_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_end, "_read_steps", pytest.fail)
    with keep_tools_ready(several=False):
        tools = find_toolchain(prefer_wheel=True, cache=None)
        assert isinstance(make(tools, make_submission(PLAIN)), Artifacts)


def test_threads_may_ask_at_the_same_time(plain: Toolchain, ready: Toolchain) -> None:
    each = [make_submission(f"__global__ void k(float *o) {{ o[{n}] = {n}; }}\n") for n in range(3)]
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda source: facts_of(make(ready, source)), each))
    assert made == [facts_of(make(plain, source)) for source in each]


def test_a_compilation_without_end_ends_at_its_limit(ready: Toolchain) -> None:
    """The limit is nvcc's; the tool that hung is replaced."""
    endless = make_submission(
        "template <int N, int M> struct T {"
        " enum { v = T<N - 1, 2 * M>::v + T<N - 1, 2 * M + 1>::v }; };\n"
        "template <int M> struct T<0, M> { enum { v = M }; };\n"
        "__global__ void k(int *o) { o[0] = T<25, 0>::v; }\n"
    )
    made = make(ready, endless, ToolLimits(wall_seconds=2.0))
    assert not isinstance(made, Artifacts)
    assert isinstance(ready.run, ReadyRun)
    broken = [tool for tool in ready.run._tools.values() if tool.is_broken]
    assert broken
    assert all(ends_soon(Path(tool._home.name)) for tool in broken)
    good = make_submission("__global__ void k(float *o) { o[0] = 4.5f; }\n")
    assert isinstance(make(ready, good), Artifacts)


def test_a_stopped_compilation_leaves_the_tool_as_it_is(ready: Toolchain) -> None:
    source = sources()[COOPERATIVE_GROUPS]
    assert isinstance(make(ready, make_submission(PLAIN)), Artifacts)
    assert isinstance(ready.run, ReadyRun)
    before = dict(ready.run._tools)
    stop = Event()
    Timer(0.2, stop.set).start()
    make(ready, source, ToolLimits(stop=stop))
    assert {start: tool for start, tool in ready.run._tools.items() if start in before} == before
    assert not any(tool.is_broken for tool in before.values())


def test_a_tool_that_does_not_start_is_not_asked(plain: Toolchain) -> None:
    tool = ReadyTool(Start(("false",), (), "code", 1), plain.run, ToolLimits())
    assert tool.ask(b"", ("stdout",), ToolLimits()) is None
    assert not tool.is_broken  # it never worked, and is not started again
    tool.close()


def test_a_tool_that_ends_is_started_again(plain: Toolchain) -> None:
    run = ReadyRun(plain.run, several=True)
    start = Start(("/bin/sh", "-c", "read x < code; exec cat code"), (("code", "\n"),), "code", 9)
    first = run.tool(start, ToolLimits())
    assert first.ask(b"", ("stdout",), ToolLimits()) is None
    first._has_answered = True
    assert run.tool(start, ToolLimits()) is not first
    run.close()


def test_nothing_is_left(plain: Toolchain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with keep_tools_ready():
        tools = find_toolchain(prefer_wheel=True, cache=None)
        assert isinstance(make(tools, make_submission(PLAIN)), Artifacts)
        assert processes_in(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert ends_soon(tmp_path)


@pytest.mark.parametrize("is_ready", [True, False])
def test_a_tool_ends_with_its_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_ready: bool
) -> None:
    """Where the process is killed, also before the tool is ready; nothing but empty folders is
    left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if (child := os.fork()) == 0:
        with keep_tools_ready():
            tools = find_toolchain(prefer_wheel=True, cache=None)
            if is_ready:
                make(tools, make_submission(PLAIN))
            else:
                assert isinstance(tools.run, ReadyRun)
                begin_to_read(tools.nvdisasm, "sm_90", tools.run)
                while not processes_in(tmp_path):
                    pass
                time.sleep(0.3)  # nvdisasm has begun
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert ends_soon(tmp_path)
    assert not [path for path in tmp_path.glob("grader-ready-*/**/*") if path.is_file()]


def test_a_fork_starts_its_own(ready: Toolchain) -> None:
    assert isinstance(make(ready, make_submission(PLAIN)), Artifacts)
    if (child := os.fork()) == 0:
        os._exit(isinstance(find_toolchain(prefer_wheel=True, cache=None).run, ReadyRun))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_unknown_order_of_steps_leaves_the_work_to_nvcc(
    plain: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_end, "_find_steps", lambda compiler, workspace: None)
    with keep_tools_ready():
        tools = find_toolchain(prefer_wheel=True, cache=None)
        source = make_submission(PLAIN)
        assert facts_of(make(tools, source)) == facts_of(make(plain, source))
        assert isinstance(
            make(tools, make_submission("__global__ void k(float *o) { o[0] = no; }\n")),
            CompileErrors,
        )


def processes_in(folder: Path) -> set[int]:
    """The processes whose working directory lies in this folder."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if path.readlink().is_relative_to(folder):
                found.add(int(path.parent.name))
    return found


def ends_soon(folder: Path) -> bool:
    until = time.monotonic() + 30
    while processes_in(folder) and time.monotonic() < until:
        time.sleep(0.05)
    return not processes_in(folder)
