"""The row of a cause of lost points (`cause_rows` has the rows), its group, and the name of its
page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

LAUNCH, BOUND, GOAL = "launch.", "bound.", "goal."
"""Beginnings of the keys of three families."""
PROJECT_PAGE = "https://pypi.org/p/cuda-exercise-grader"
"""The page that the workflow of releases publishes."""
DOCS = "GRADER_DOCS"
"""The variable with the address of a published copy of docs/ (`mkdocs build`)."""
WRONG, EXCHANGED, UNREPEATABLE = "wrong_values", "arguments_exchanged", "unrepeatable"


class Group(StrEnum):
    """A group of causes; its title in lists."""

    OUTPUTS = "wrong outputs"
    MEMORY = "memory accesses and time"
    KERNELS = "mistakes that a run of a kernel shows"
    HOST = "mistakes in host code"
    LAUNCHES = "launch lines"
    ENDS = "ends of a grading"


@dataclass(frozen=True)
class CauseRow:
    """A cause: its words in a table, its meaning (a definition), and its fix.

    `metric` shows it. `sanitizer` is the tool of compute-sanitizer that finds it on a GPU.
    `gallery` has the kernels of its picture: the mistake first, then the same access without it;
    with the gallery `mistakes`, the kernel that has the name of the cause. `code` is an example
    where no kernel shows it. `exercises` practise it.
    """

    text: str
    group: Group
    meaning: str
    fix: str
    metric: str = ""
    sanitizer: str = ""
    gallery: str = ""
    kernels: tuple[str, ...] = ()
    code: str = ""
    exercises: tuple[str, ...] = ()


def page_name(key: str) -> str:
    """The name of a cause for `grade explain`: `bank-conflicts`."""
    return key.replace("_", "-")


def page_command(key: str) -> str:
    """The command that explains a cause: `grade explain bank-conflicts`."""
    return f"grade explain {page_name(key)}"


def page_address(key: str, environment: Mapping[str, str] = os.environ) -> str:
    """The address of a cause in the published docs; the project's page if there are none."""
    docs = environment.get(DOCS, "").rstrip("/")
    return f"{docs}/reference/causes/#{page_name(key)}" if docs else PROJECT_PAGE
