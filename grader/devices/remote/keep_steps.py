"""Machine code that a confined worker made and cannot keep is made again, and kept, by the grader.

The worker, which runs submissions, writes nothing that others run: it only says that it made some.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from grader.records import Binary


class StepKeeper:
    """Keeps the steps that binaries need, one binary after another, beside other work."""

    def __init__(self) -> None:
        self._known: list[Binary] = []
        self._thread: ThreadPoolExecutor | None = None

    def keep(self, binary: Binary, arch: str) -> None:
        """Begin to make what a binary for this architecture needs; a second call for it does
        nothing."""
        if any(known is binary for known in self._known):
            return
        self._known.append(binary)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        self._thread.submit(_make_steps, binary, arch)

    def close(self) -> None:
        """Wait until all is made."""
        if self._thread is not None:
            self._thread.shutdown()
        self._thread = None


def _make_steps(binary: Binary, arch: str) -> None:
    from grader.devices.emulated.machine_code import make_steps

    make_steps(binary, arch)
