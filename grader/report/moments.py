"""Moments, waiting times and points, as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime


def format_moment(seconds: float | None, form: str = "%Y-%m-%d %H:%M UTC") -> str:
    """A time in UTC; empty for None. The script shows the local time."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime(form)


def parse_moment(text: str, form: str) -> float | None:
    """A time in UTC; None for an empty text. ValueError for another form."""
    if not text.strip():
        return None
    try:
        return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
    except OverflowError as error:
        raise ValueError(text) from error


def format_points(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"


def format_wait(seconds: float | None) -> str:
    """A waiting time in words; empty for None."""
    if seconds is None:
        return ""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return "about a minute" if minutes == 1 else f"about {minutes} minutes"


def format_place(ahead: int, wait_s: float | None) -> str:
    """The place of a waiting grading: the gradings before it, and an estimate of the time."""
    number = f"{ahead} before you" if ahead else "you are next"
    wait = f", {format_wait(wait_s)}" if wait_s is not None else ""
    return f"Waiting: {number}{wait}"


def format_stage(stage: str) -> str:
    return f"Grading: {stage or 'starting'}"
