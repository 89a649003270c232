"""A batch that is killed at random moments: in the end everything was graded, and nothing that was
written down twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.instant import ROOT, sha256_of


def start(out: Path, count: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.instant", str(out), str(count), "2", "slow"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def journaled(out: Path) -> dict[str, str]:
    """What the journal says of each file; read as another program would."""
    if not (out / "journal.sqlite").exists():
        return {}
    with contextlib.closing(sqlite3.connect(out / "journal.sqlite", timeout=30)) as database:
        try:
            return dict(database.execute("SELECT sha256, message FROM results"))
        except sqlite3.OperationalError:  # killed before there was a table
            return {}


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def kill_one(batch: subprocess.Popen[bytes], draw: random.Random) -> None:
    """Kill the batch itself or, at times, one of its processes, which it must survive."""
    victims = children_of(batch.pid)
    if victims and draw.random() < 0.3:
        with contextlib.suppress(ProcessLookupError):
            os.kill(draw.choice(victims), signal.SIGKILL)
        time.sleep(draw.uniform(0.0, 0.2))
    batch.kill()
    batch.wait()


def survive_kills(out: Path, kills: int, count: int) -> None:
    """Kill a batch of so many submissions so often, looking each time at what the journal has; then
    let it end."""
    draw = random.Random(7)
    known: dict[str, str] = {}
    calls = out / "calls"
    for _ in range(kills):
        started = len(calls.read_text().split()) if calls.exists() else 0
        batch = start(out, count)
        # Some end while they start, most in the middle of the work.
        deadline = time.monotonic() + draw.choice([draw.uniform(0.0, 0.6), 30.0])
        more = draw.randint(1, 2 * count // kills)
        while batch.poll() is None and time.monotonic() < deadline:
            if calls.exists() and len(calls.read_text().split()) >= started + more:
                break
            time.sleep(0.005)
        kill_one(batch, draw)
        graded = calls.read_text().split()[started:] if calls.exists() else []
        assert not set(graded) & set(known), "graded although it was in the journal"
        now = journaled(out)
        assert known.items() <= now.items(), "lost, or replaced"
        known = now
    last = start(out, count)
    assert last.wait(120) == 0
    end = journaled(out)
    assert known.items() <= end.items()
    assert set(end) == {sha256_of(number) for number in range(count)}
    for number in range(count):
        score = json.loads((out / "scores" / f"student{number:05}.json").read_text())
        assert (score["submission"]["sha256"], score["message"]) == (
            sha256_of(number),
            end[sha256_of(number)],
        )


def test_a_few_kills(tmp_path: Path) -> None:
    survive_kills(tmp_path / "out", 4, 40)


@pytest.mark.slow
def test_two_hundred_kills(tmp_path: Path) -> None:
    survive_kills(tmp_path / "out", 200, 300)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.0, 3.0, 6.0])
def test_the_real_grader_is_killed(tmp_path: Path, seconds: float) -> None:
    out = tmp_path / "out"
    subs = tmp_path / "subs"
    subs.mkdir()
    names = [
        "passed--times_one",
        "failed--copies_the_input",
        "compile_error--missing_brace",
        "runtime_error--tile_overrun",
    ]
    for name in names:
        (subs / f"{name}.cu").write_bytes(
            (ROOT / "tests" / "submissions" / "transpose" / f"{name}.cu").read_bytes()
        )
    options = ["--device", "emulated", "--no-model", "--jobs", "2"]
    command = [
        sys.executable,
        "-m",
        "grader",
        "batch",
        "transpose",
        str(subs),
        "--out",
        str(out),
        *options,
    ]
    batch = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    batch.kill()
    batch.wait()
    known = journaled(out)
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
    assert known.items() <= journaled(out).items()
    statuses = {
        name: json.loads((out / "scores" / f"{name}.json").read_text())["status"] for name in names
    }
    assert statuses == {name: name.split("--")[0] for name in names}


def test_ctrl_c_keeps_what_was_graded_and_says_how_to_go_on(tmp_path: Path) -> None:
    out, subs = tmp_path / "out", tmp_path / "subs"
    subs.mkdir()
    (subs / "jane.cu").write_bytes(
        (
            ROOT / "tests" / "submissions" / "transpose" / "compile_error--missing_brace.cu"
        ).read_bytes()
    )
    for number in range(4):
        text = (ROOT / "tests" / "submissions" / "transpose" / "passed--times_one.cu").read_text()
        (subs / f"kim{number}.cu").write_text(f"{text}// {number}\n")
    command = [
        sys.executable,
        "-m",
        "grader",
        "batch",
        "transpose",
        str(subs),
        "--out",
        str(out),
        "--device",
        "emulated",
        "--jobs",
        "1",
    ]
    listening = [
        "env",
        "--default-signal=INT",
    ]  # tests that run in a shell's background are deaf to it
    batch = subprocess.Popen(
        [*listening, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert batch.stderr is not None
    assert "jane: compile_error" in batch.stderr.readline()
    batch.send_signal(signal.SIGINT)
    _, said = batch.communicate(timeout=60)
    assert batch.returncode == 128 + signal.SIGINT
    assert "the same command continues" in said
    assert len(journaled(out)) >= 1
    assert "jane,,0,100,100,compile_error" in (out / "gradebook.csv").read_text()
