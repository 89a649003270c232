"""Takes out of what a student is told whatever gives the sizes of a hidden case away; what helps stays.

The sizes follow from counts of elements, from the index of the first wrong one, from a picture's shape, and from a
buffer's bytes. Shares, values, names, lines and the kind of a mistake tell nothing of them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from grader.records import Failure, Finding, Mismatch
from grader.spec.model import Case

_REDACTIONS = (
    (re.compile(r" \([\d,]+ bytes\)"), ""),
    (re.compile(r"-?[\d,]+ bytes (before|past|behind|beyond) "), r"\1 "),
    (re.compile(r"\bbyte -?[\d,]+ of buffer\b"), "inside buffer"),
    (re.compile(r"\b(buffers need|takes) [\d,]+ bytes"), r"\1 too many bytes"),
    (re.compile(r" is [1-9][\d,]*(?=: at most )"), " is too large"),
)
"""How it is said where in a buffer something is and how large buffers and grids are (devices, submission.resolve), and what is left
of it. The public cases run first: what is told of a hidden one for the first time depends on its sizes."""


def redact_mismatch(mismatch: Mismatch) -> Mismatch:
    """A mismatch without place, counts and picture."""
    return replace(mismatch, index=None, wrong_elements=None, total_elements=None, picture=())


def redact_failure(failure: Failure) -> Failure:
    """A failure without the sizes of buffers and the places in them."""
    findings = tuple(redact_finding(finding) for finding in failure.findings)
    return replace(failure, message=_redact(failure.message), detail=_redact(failure.detail), findings=findings)


def name_case(failure: Failure, case: Case) -> Failure:
    """A failure that says in which case it happened: with its sizes when they are public, redacted when they are not."""
    told = redact_failure(failure) if case.hidden else failure
    sizes = ", ".join(f"{name} = {size:,}" for name, size in case.sizes.items())
    where = f"'{case.name}'" if case.hidden or not sizes else f"'{case.name}' ({sizes})"
    return replace(told, message=f"{told.message.removesuffix('.')}. In case {where}.")


def redact_finding(finding: Finding) -> Finding:
    """A finding without the place in a buffer; a place in shared memory tells nothing of the sizes."""
    if finding.buffer is None or finding.element is None or finding.buffer == "shared memory":
        return replace(finding, message=_redact(finding.message), offset_bytes=None)
    message = finding.message.replace(finding.element, finding.buffer)
    return replace(finding, message=_redact(message), offset_bytes=None, element=None)


def _redact(text: str) -> str:
    for pattern, left in _REDACTIONS:
        text = pattern.sub(left, text)
    return text
