"""The grader compiles native code again, for the cache, that a confined worker compiled.

A worker runs submissions, so it must not write code that others execute: it only reports that it
compiled some.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from grader.records import Binary


class StepKeeper:
    """Compiles and caches the native code of binaries, one binary after another, in the
    background."""

    def __init__(self) -> None:
        self._known: list[Binary] = []
        self._thread: ThreadPoolExecutor | None = None

    def keep(self, binary: Binary, arch: str) -> None:
        """Start the compilation for a binary and architecture; a second call has no effect."""
        if any(known is binary for known in self._known):
            return
        self._known.append(binary)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        self._thread.submit(_make_steps, binary, arch)

    def close(self) -> None:
        """Wait for the end of all compilations."""
        if self._thread is not None:
            self._thread.shutdown()
        self._thread = None


def _make_steps(binary: Binary, arch: str) -> None:
    from grader.devices.emulated.machine_code import make_steps

    make_steps(binary, arch)
