"""Waits until a file is saved, by polling: this works on every file system, and with editors that
replace the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

POLL_SECONDS = 0.1
GONE_SECONDS = 1.0
"""A file that is missing for less long is being replaced."""

Stamp = tuple[int, int, int]


@dataclass
class Saves:
    """A file that is saved again and again; at most `max_bytes` of it are read. `tell_gone` is
    called when it has been missing for GONE_SECONDS. A half-written file is skipped: the stamp must
    be equal in two polls."""

    path: Path
    max_bytes: int
    tell_gone: Callable[[], None] = lambda: None
    poll_seconds: float = POLL_SECONDS
    _seen: tuple[Stamp, bytes] | None = field(default=None, init=False)

    def wait(self, known: bytes | None) -> bytes:
        """The file's content, as soon as it differs from the known content."""
        missing_since: float | None = time.monotonic()
        while True:
            before = self._stamp()
            if before is None:
                if missing_since is not None and _is_over(missing_since):
                    self.tell_gone()
                    missing_since = None
            else:
                missing_since = time.monotonic()
                content = self._read(before)
                if content is not None and content != known and self._stands_still(before):
                    return content
            time.sleep(self.poll_seconds)

    def has_newer(self, known: bytes) -> bool:
        """Whether a different content has been saved. Looks once, without a second poll."""
        stamp = self._stamp()
        if stamp is None:
            return False
        content = self._read(stamp)
        return content is not None and content != known

    def _stands_still(self, stamp: Stamp) -> bool:
        time.sleep(self.poll_seconds)
        return self._stamp() == stamp

    def _stamp(self) -> Stamp | None:
        """Time, size and inode, which change with each save; None while the file is missing."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self, stamp: Stamp) -> bytes | None:
        """The content, which is read once for a stamp; None if it cannot be read now."""
        if self._seen is not None and self._seen[0] == stamp:
            return self._seen[1]
        try:
            with self.path.open("rb") as file:
                content = file.read(self.max_bytes + 1)
        except OSError:
            return None
        self._seen = stamp, content
        return content


def _is_over(since: float) -> bool:
    return time.monotonic() - since >= GONE_SECONDS
