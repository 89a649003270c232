"""run_tool: limits hold, nothing is left behind, nothing of our environment goes in."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from grader.errors import ToolMissing
from grader.records import ToolLimits
from grader.sandbox.process import run_tool


def run_python(code: str, **limits: float) -> tuple[int, str, str, str | None]:
    completed = run_tool([sys.executable, "-c", code], limits=ToolLimits(**limits))  # type: ignore[arg-type]
    return completed.returncode, completed.stdout, completed.stderr, completed.limit


def lives(pid: int) -> bool:
    """Whether the process runs (a zombie, which nobody has waited for yet, does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def dies_soon(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not lives(pid)


def test_returns_code_and_both_outputs() -> None:
    completed = run_tool(["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (completed.returncode, completed.stdout, completed.stderr, completed.limit) == (
        7,
        "out\n",
        "err\n",
        None,
    )


def test_arguments_are_passed_unchanged() -> None:
    words = ["a b", "$HOME", "'", '"', "", "*", "-n"]
    completed = run_tool(["sh", "-c", 'printf "%s|" "$@"', "name", *words])
    assert completed.stdout == "".join(f"{word}|" for word in words)


def test_a_time_out_kills_the_whole_group(tmp_path: Path) -> None:
    script = f"sleep 300 & echo $! > {tmp_path}/child; wait"
    started = time.monotonic()
    completed = run_tool(["sh", "-c", script], limits=ToolLimits(wall_seconds=0.5))
    assert completed.limit == "time"
    assert completed.returncode < 0
    assert time.monotonic() - started < 30
    assert dies_soon(int((tmp_path / "child").read_text()))


def test_a_tool_that_nobody_waits_for_any_more_is_killed() -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    completed = run_tool(["sleep", "300"], limits=ToolLimits(wall_seconds=30, stop=stop))
    assert (completed.limit, completed.returncode) == ("stop", -signal.SIGKILL)


def test_a_child_that_outlives_the_tool_is_killed(tmp_path: Path) -> None:
    script = f"sleep 300 & echo $! > {tmp_path}/child; echo done"
    started = time.monotonic()
    completed = run_tool(["sh", "-c", script], limits=ToolLimits(wall_seconds=30))
    assert (completed.returncode, completed.stdout, completed.limit) == (0, "done\n", None)
    assert time.monotonic() - started < 30
    assert dies_soon(int((tmp_path / "child").read_text()))


def test_a_tool_that_closed_its_outputs_still_times_out() -> None:
    completed = run_tool(
        ["sh", "-c", "exec >&- 2>&-; sleep 300"], limits=ToolLimits(wall_seconds=0.3)
    )
    assert completed.limit == "time"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_is_cut_and_ended(stream: str) -> None:
    code = f"import sys\nwhile True: sys.{stream}.write('x' * 10000)"
    _, stdout, stderr, limit = run_python(code, output_bytes=100_000, wall_seconds=30)
    assert limit == "output"
    assert len(stdout if stream == "stdout" else stderr) == 100_000


def test_both_outputs_are_read_while_the_tool_writes() -> None:
    code = (
        "import sys\nfor _ in range(200): sys.stdout.write('o' * 5000); sys.stderr.write('e' *"
        " 5000)"
    )
    _, stdout, stderr, limit = run_python(code, wall_seconds=30)
    assert (len(stdout), len(stderr), limit) == (1_000_000, 1_000_000, None)


def test_memory_is_limited() -> None:
    code = "x = bytearray(1 << 30); print('had it')"
    returncode, stdout, stderr, _ = run_python(code, memory_bytes=512 << 20)
    assert returncode != 0
    assert stdout == ""
    assert "MemoryError" in stderr


def test_written_files_are_limited(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'big')!r}, 'wb').write(bytes(1 << 22))"
    returncode, *_ = run_python(code, file_bytes=1 << 20)
    assert returncode != 0
    assert (tmp_path / "big").stat().st_size <= 1 << 20


def test_a_child_of_the_tool_has_the_limits_too() -> None:
    limits = ToolLimits(memory_bytes=1 << 30, file_bytes=1 << 20)
    completed = run_tool(["sh", "-c", "sh -c 'ulimit -c; ulimit -v; ulimit -f'"], limits=limits)
    assert completed.stdout.split() == ["0", str(1 << 20), str(1 << 11)]


def test_the_environment_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADER_TEST_SECRET", "token")
    code = (
        "import os; print(*sorted(os.environ)); print(os.environ['HOME'] == os.environ['TMPDIR'],"
        " os.environ['GIVEN'])"
    )
    completed = run_tool([sys.executable, "-c", code], env={"GIVEN": "yes"})
    names, rest = completed.stdout.splitlines()
    assert set(names.split()) - {"LC_CTYPE", "PWD", "OLDPWD", "SHLVL", "_"} == {
        "GIVEN",
        "HOME",
        "LANG",
        "PATH",
        "TMPDIR",
    }
    assert rest == "True yes"


def test_the_private_folder_is_removed() -> None:
    completed = run_tool(["sh", "-c", 'touch "$TMPDIR/left"; echo "$TMPDIR"; pwd'])
    private, cwd = completed.stdout.split()
    assert private == cwd
    assert not Path(private).exists()


def test_the_tool_has_no_input_and_none_of_our_files() -> None:
    with Path(__file__).open() as ours:
        os.set_inheritable(ours.fileno(), True)
        code = (
            "import os, sys\nprint(repr(sys.stdin.read()))\ntry:\n "
            f" os.fstat({ours.fileno()})\nexcept OSError: print('closed')"
        )
        completed = run_tool([sys.executable, "-c", code])
    assert completed.stdout.split() == ["''", "closed"]


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert run_tool(["printf", r"a\377b"]).stdout == "a�b"


def test_a_missing_program_is_named() -> None:
    with pytest.raises(ToolMissing, match="no-such-tool"):
        run_tool(["no-such-tool"])
