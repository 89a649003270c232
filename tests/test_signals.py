"""Signals that end a command."""

from __future__ import annotations

import os
import signal
import time

import pytest

from grader.cli.signals import TerminatedError, ending_on_signals


class Finalised:
    """An object whose finaliser takes time, in which a signal arrives."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)


def be_terminated() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def be_terminated_in_a_finaliser() -> None:
    Finalised()
    time.sleep(10)


def test_a_signal_ends_the_work() -> None:
    with pytest.raises(TerminatedError), ending_on_signals():
        be_terminated()


def test_a_signal_during_a_finaliser_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    started = time.monotonic()
    with pytest.raises(TerminatedError), ending_on_signals():
        be_terminated_in_a_finaliser()
    assert time.monotonic() - started < 5
    assert "Traceback" not in capfd.readouterr().err
