"""Under memory pressure the kernel drops what it keeps of /proc; a confined process must still read
its own page map."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox.landlock import landlock_version

DROP = Path("/proc/sys/vm/drop_caches")
CONFINED = """
from pathlib import Path
from grader.sandbox.isolation import restrict_emulating_process
restrict_emulating_process()
print("confined", flush=True)
for _ in range(3):
    input()
    for name in ("/proc/self/pagemap", "/proc/meminfo", "/sys/devices/system/cpu/online"):
        with open(name, "rb") as file:
            file.read(1)
    print("read", flush=True)
"""


@pytest.mark.faults
@pytest.mark.skipif(
    landlock_version() == 0 or not os.access(DROP, os.W_OK) or os.geteuid() != 0,
    reason="needs Landlock, and root to drop the kernel's caches",
)
def test_a_confined_process_reads_its_page_map_after_the_kernel_dropped_its_entries() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CONFINED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.readline() == "confined\n"
    for _ in range(3):
        DROP.write_text("2\n")  # entries and inodes that nobody holds
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "read\n", child.stderr.read()
    assert child.wait(10) == 0
