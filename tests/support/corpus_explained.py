"""The cases of the corpus that differ from a GPU, with the reasons; and the table of all cases,
docs/reference/corpus.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from tests.support.corpus import Case, find_cases, find_recorded
from tests.support.corpus_record import read_record

EXPLAINED = {
    "barrier_objects_by_lanes": (
        "lanes of a warp that wait for a phase test it more often here in some places, less in others"
    ),
    "barrier_objects_of_pipelines": (
        "threads that wait for a phase test it less often here; three runs on an H200 are equal"
    ),
    "copy_async_4_8_16-O0": "of ten runs on an H200 some count 208 sectors, and some 224 as here",
    "generic_addresses-O0": "9 load requests in one run on an H100, 10 as here in ten on an H200",
    "generic_addresses-O3": "9 store requests in one run on an H100, 10 as here in ten on an H200",
    "special_registers": (
        "%warpid is a slot of the multiprocessor: the PTX ISA does not define its number"
    ),
    "student_histograms": (
        "in the fourth kernel, warps repeat 64-bit atomics on shared memory after quicker warps:"
        " 4,771 to 5,235 warp instructions in ten runs on an H200, all different"
    ),
    "student_pipelines-O1": (
        "LDGSTS past the L1 under @!P0 without active lanes uses addresses that are not set: the"
        " H100 counts 24 wavefronts more than here, an H200 86 more in each of ten runs"
    ),
}
"""Files, or cases, that differ from the GPU, with the reason. When the emulator gets the rule of a
case, its test fails: delete the line."""


def find_explanation(case: Case) -> str | None:
    """The reason why a case differs from the GPU; None for an equal case."""
    return EXPLAINED.get(case.path.stem) or EXPLAINED.get(str(case))


def render_corpus() -> str:
    """The number of cases, the recordings, and a table with a row for each kernel file."""
    cases = find_cases()
    recorded = [case for case in cases if find_recorded(case) is not None]
    equal = sum(find_explanation(case) is None for case in recorded)
    by_file = [tuple(group) for _, group in groupby(cases, key=lambda case: case.path)]
    recordings = "\n".join(
        "; ".join([f"- {name}: ncu {about['ncu']}", *filter(None, [about.get("atomics")])])
        for name, about in read_record().recordings.items()
    )
    head = ("kernels", "subject", "levels", "recorded on", "equal")
    table = "\n".join(_row(cells) for cells in (head, ["---"] * len(head), *map(_cells, by_file)))
    return f"""\
{len(by_file)} files of kernels make {len(cases)} cases: a case for each level of optimisation.
{len(recorded)} are recorded, and {equal} of them are equal here.

{recordings}

{table}"""


def _cells(cases: Sequence[Case]) -> Iterator[str]:
    """A row of the table: all levels of a file."""
    yield f"`{cases[0].path.stem}`"
    yield _read_subject(cases[0])
    yield " ".join(f"-O{case.level}" for case in cases)
    yield ", ".join(dict.fromkeys(map(_name_recording, cases)))
    yield "; ".join(dict.fromkeys(map(_describe_equality, cases)))


def _read_subject(case: Case) -> str:
    """The comment that a kernel file begins with."""
    lines = case.path.read_text(encoding="utf-8").splitlines()
    subject = takewhile(lambda line: re.match(r"// (?!\w+: )", line), lines)
    return " ".join(line.removeprefix("// ") for line in subject).rstrip(".")


def _name_recording(case: Case) -> str:
    recorded = find_recorded(case)
    return recorded.recording if recorded else "not yet"


def _describe_equality(case: Case) -> str:
    """The compared results if they are equal; else the differences."""
    recorded, why = find_recorded(case), find_explanation(case)
    if recorded is None:
        return "not known"
    if why is not None:
        return f"no: {why}" if case.path.stem in EXPLAINED else f"not at -O{case.level}: {why}"
    return "outputs and counters" if recorded.result.launches else "outputs"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
