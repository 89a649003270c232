"""docs/extending.md: an addition of each kind changes one source file, and works everywhere. Each
addition is made in a copy of the tree, whose other files are links."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "exercises", "grader", "solutions", "starter", "tests")
GENERATED = (
    "docs/schemas.py",
    "grader/schemas/score.schema.json",
    "grader/schemas/spec.schema.json",
)

ADDITIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "metric": (
        "grader/metrics.py",
        {
            '    Metric(\n        "shared_wavefronts",': """\
    Metric(
        "shared_instructions",
        Better.LOWER,
        "shared instructions",
        "warp instructions that access shared memory",
        count=lambda run: run.counters.shared_instructions,
    ),
"""
        },
    ),
    "counter": (
        "grader/records/counters.py",
        {
            "    shared_load_wavefronts: int": """\
    shared_fetch_instructions: int = counter_field(
        "instructions",
        Sum("executed", SHARED, Accessing.FETCHES),
        metrics=("smsp__inst_executed_op_shared_fetch.sum",),
        shown=Shown.ON_PAGES,
    )
"""
        },
    ),
    "status": (
        "grader/statuses.py",
        {
            '    GRADER_ERROR = "grader_error"': '    OVERHEATED = "overheated"\n',
            "    Status.GRADER_ERROR: StatusRow(": """\
    Status.OVERHEATED: StatusRow(
        Doing.OURS,
        "The GPU was too hot for a measurement.",
        "too hot",
        Badge.NONE,
        title="Too hot",
        clause="the GPU was too hot",
    ),
""",
        },
    ),
    "format": (
        "grader/report/platforms/__init__.py",
        {'    "markdown": ': '    "one_line": "a line of text",\n'},
    ),
    "GPU": (
        "grader/devices/gpus.json",
        {
            '  "a100": {': """\
  "h300": {
    "name": "NVIDIA H300",
    "compute_capability": "9.0",
    "arch": "sm_90",
    "multiprocessors": 144,
    "boost_mhz": 1980,
    "peak_bandwidth_gbps": 6000.0,
    "peak_fp32_tflops": 73.0,
    "l2_bytes": 62914560,
    "max_warps_per_multiprocessor": 64,
    "max_blocks_per_multiprocessor": 32,
    "registers_per_multiprocessor": 65536,
    "shared_bytes_per_multiprocessor": 233472,
    "max_shared_bytes_per_block": 232448,
    "shared_granularity_bytes": 128,
    "reserved_shared_bytes_per_block": 1024,
    "source": "invented"
  },
"""
        },
    ),
    "command": (
        "grader/cli/__init__.py",
        {
            "from grader.errors import": "from grader.cli.version import VERSION\n",
            '        "doctor": DOCTOR,': '        "version": VERSION,\n',
        },
    ),
}
"""By kind the file that changes, and the added text by the text that follows it."""

NEW_FILES = {
    "grader/report/platforms/one_line.py": '''\
"""A score as a line of text."""

from grader.records import PendingRule, Score


def format_one_line(score: Score, rule: PendingRule | None = None) -> str:
    return f"{score.submission_name}: {score.score}\\n"
''',
    "grader/cli/version.py": '''\
"""`grade version`."""

import argparse

from grader.cli.common import Command


def run_version(options: argparse.Namespace) -> int:
    print("1.0")
    return 0


VERSION = Command("version", run_version, "Print the version.")
''',
}
"""New modules that the changed tables name."""


@pytest.mark.parametrize("kind", ADDITIONS)
def test_an_addition_changes_one_source_file(kind: str, tmp_path: Path) -> None:
    name, added = ADDITIONS[kind]
    new = {path: text for path, text in NEW_FILES.items() if Path(path).parent == Path(name).parent}
    copy_tree(tmp_path, (name, *GENERATED))
    changed = tmp_path / name
    text = changed.read_text(encoding="utf-8")
    for before, addition in added.items():
        assert text.count(before) == 1
        text = text.replace(before, addition + before)
    changed.write_text(text, encoding="utf-8")
    for path, content in new.items():
        (tmp_path / path).write_text(content, encoding="utf-8")
    command = [sys.executable, "-m", "tests.support.extended", kind]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def copy_tree(target: Path, files: Iterable[str]) -> None:
    """The folders of the tree as links, except the files that may change and their folders."""
    kept = {ROOT / name for name in files}
    open_folders = {folder for path in kept for folder in path.parents}

    def copy(source: Path, to: Path) -> None:
        if source in kept:
            to.write_bytes(source.read_bytes())
        elif source not in open_folders:
            to.symlink_to(source)
        else:
            to.mkdir()
            for child in source.iterdir():
                if child.name != "__pycache__":
                    copy(child, to / child.name)

    for name in FOLDERS:
        copy(ROOT / name, target / name)
