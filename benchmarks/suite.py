"""Costs of the test suite: CPU seconds by file, and the most expensive tests.

    python benchmarks/suite.py [--top N] [-- PYTEST ARGUMENTS]
    python benchmarks/suite.py -- -n 1 tests/emulator

Runs pytest with this file as a plugin. A test's seconds are those of its pytest worker and of the
children that ended during it, including its fixtures: a child that outlives its test (a device that
a module shares) counts where it ends. `start` is a worker's time before its first test (imports,
collection). The last line is the whole run, measured by its parent.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
REPORT = "GRADER_SUITE_REPORT"
"""The environment variable with the name of the plugin's report file."""
START = "start"
PLUGIN = "suite_meter"


def processor_s(*whose: int) -> float:
    """CPU seconds of this process and of its children that have ended."""
    uses = [resource.getrusage(who) for who in whose]
    return sum(use.ru_utime + use.ru_stime for use in uses)


class Meter:
    """The plugin in a process that runs tests: measures each phase of a test."""

    def __init__(self) -> None:
        self._before_s = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        self._note(item.nodeid)
        return report

    def pytest_runtest_logstart(self) -> None:
        if self._before_s == 0.0:
            self._note(START)

    def pytest_sessionfinish(self) -> None:
        self._note("end")

    def _note(self, name: str) -> None:
        now_s = processor_s(resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        with Path(os.environ[REPORT]).open("a", encoding="utf-8") as report:
            report.write(f"{now_s - self._before_s:.4f}\t{name}\n")
        self._before_s = now_s


def pytest_configure(config: pytest.Config) -> None:
    """Active only where tests run: in xdist's workers, or in a single pytest process."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        config.pluginmanager.register(Meter())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--top", type=int, default=20, help="how many files and tests to list")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, behind --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = Path(name, "report.tsv")
        # A copy with its own name: a package `benchmarks` would hide tests/benchmarks.
        shutil.copy(__file__, Path(name, f"{PLUGIN}.py"))
        paths = os.pathsep.join(filter(None, (name, os.environ.get("PYTHONPATH"))))
        began_s = time.monotonic()
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", PLUGIN, *options.pytest],
            cwd=ROOT,
            env={**os.environ, REPORT: str(report), "PYTHONPATH": paths},
        )
        wall_s = time.monotonic() - began_s
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    print_table(lines, options.top)
    print(
        f"{processor_s(resource.RUSAGE_CHILDREN):8.1f}  the whole run, {wall_s:.1f} s by the clock"
    )
    return ended.returncode


def print_table(lines: list[str], top: int) -> None:
    """Prints the most expensive files and tests from the plugin's lines."""
    by_file: defaultdict[str, float] = defaultdict(float)
    by_test: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        seconds, name = line.split("\t", 1)
        by_file[name.partition("::")[0]] += float(seconds)
        by_test[name] += float(seconds)
    for title, table in (("file", by_file), ("test", by_test)):
        print(f"\n{'seconds':>8}  {title}")
        for name, seconds in sorted(table.items(), key=lambda row: -row[1])[:top]:
            print(f"{seconds:8.1f}  {name}")


if __name__ == "__main__":
    sys.exit(main())
