"""Names in a launch line whose value only the compiler knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A name, or `sizeof(T)`; `may_be_type`: a type is an answer too."""

    text: str
    may_be_type: bool


@dataclass(frozen=True)
class NoConstant:
    """A question without an answer, and the compiler's message."""

    text: str
    said: str
