"""Wrong cases in hints: the shown case, and the advice where an output shows its own cause. The
advice replaces the author's hint, which is general."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.messages.findings import advise
from grader.messages.sizes import explain_shapes
from grader.records import CaseResult, Failure, FindingKind
from grader.spec.exercise import Case

OUTPUT_ADVICE: Mapping[str, str] = {
    "arguments_exchanged": (
        "Give the launch line's arguments in the order of the kernel's parameters."
    ),
    "input_modified": "Store to the output, or to a scratch buffer.",
    "untransposed": "Exchange row and column in the index of the load or of the store.",
    "blocks_unswapped": (
        "Where the output's tile begins, blockIdx.x and blockIdx.y exchange their places."
    ),
    "tiles_in_place": "Inside a tile, too, elements stored by row are read by column.",
    "index_off_by_one": "Look for a + 1 or a - 1, and for < where <= should stand, or the reverse.",
    "edge": (
        "Round the grid up (ceil_div), and compare each index with the very size that bounds it."
    ),
    "race": "",
}
"""By the key of the cause (messages.causes). The message of a race already names the missing
barrier."""


def describe_case(case: CaseResult) -> str:
    """The message of a wrong case: the start of its hint."""
    return f"case {case.name}: {case.message}"


def find_shown_case(cases: Sequence[CaseResult]) -> CaseResult | None:
    """The wrong case for the report: the first public case, whose sizes may be shown, else the
    first hidden one."""
    wrong = [case for case in cases if case.is_wrong]
    return next((case for case in wrong if not case.hidden), wrong[0] if wrong else None)


def explain_sizes(cases: Sequence[CaseResult]) -> str:
    """A conclusion from the sizes of right and wrong cases."""
    public = [case for case in cases if not case.hidden]
    return explain_shapes(
        [case.sizes for case in public if case.passed],
        [case.sizes for case in public if case.is_wrong],
    )


def explain_failed_case(failure: Failure, case: Case, right: Sequence[CaseResult]) -> Failure:
    """The failure of a case. Its advice starts with a comparison of the case's sizes with the sizes
    of the right cases before it."""
    strays = any(finding.kind is FindingKind.OUT_OF_BOUNDS for finding in failure.findings)
    if case.hidden or not strays:
        return failure
    shapes = explain_shapes([each.sizes for each in right if not each.hidden], [case.sizes])
    return replace(failure, advice=f"{shapes} {advise(failure)}") if shapes else failure
