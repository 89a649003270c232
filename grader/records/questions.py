"""What a launch line leaves to the compiler: names whose meaning is in the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A name, or `sizeof(T)`; `may_be_type`: it need not be an integer."""

    text: str
    may_be_type: bool


@dataclass(frozen=True)
class NoConstant:
    """A question that the compiler has no answer to, and what it says."""

    text: str
    said: str
