"""Signals end the work like Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

SOON_SECONDS = 0.01
"""A finaliser has ended by then, or the signal comes once more."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM, or SIGHUP when the terminal closes. It ends the work like Ctrl-C, so that results
    are written, and processes and temporary folders are removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def ending_on_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise TerminatedError. An ignored SIGHUP (`nohup`) stays ignored. In
    a thread, which cannot receive signals, this does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        raise TerminatedError(number)

    def send_again(lost: sys.UnraisableHookArgs) -> None:
        """Nothing can be raised in a finaliser: the signal comes once more, after it."""
        if isinstance(lost.exc_value, TerminatedError):
            again = (os.getpid(), lost.exc_value.number)
            threading.Timer(SOON_SECONDS, os.kill, again).start()
        else:
            show_lost(lost)

    ending = [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ending.append(signal.SIGHUP)
    before = [(number, signal.signal(number, end)) for number in ending]
    show_lost, sys.unraisablehook = sys.unraisablehook, send_again
    try:
        yield
    finally:
        sys.unraisablehook = show_lost
        for number, handler in before:
            signal.signal(number, handler)


def interrupted_code(interrupt: KeyboardInterrupt) -> int:
    """A shell's exit code for the signal."""
    return 128 + (interrupt.number if isinstance(interrupt, TerminatedError) else signal.SIGINT)
