"""What a student reads under the table: for each check that lost points, one sentence of what the
counters show and one of what to try. Both are tables by metric; the author's own hint, where a spec
has one, takes the place of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.judging.copies import Copy, find_copies
from grader.records import (
    CaseResult,
    CheckResult,
    CheckStatus,
    Counters,
    Failure,
    Finding,
    FindingKind,
    GlobalAccesses,
    Modelled,
    PartResult,
    Role,
    SourceLine,
    Submission,
)
from grader.spec.exercise import Case, Exercise
from grader.words.accesses import find_accesses, find_shared_names, quote_access
from grader.words.shapes import explain_shapes

_LOST_POINTS = (CheckStatus.FAILED, CheckStatus.PARTIAL)
_POOR_EFFICIENCY = 0.5
"""Below this, an access pattern is named as the reason for a slow kernel."""
_SCATTERED = 8
"""Sectors a request from which on, on the average of a line's loads, lanes read from different
rows: 32 neighbours take 4."""


@dataclass(frozen=True)
class Evidence:
    """What a hint may draw on: the cases, the counted source lines, the names of the shared arrays
    and of kernels' parameters that are copies of inputs, and the timing model's word.
    """

    cases: tuple[CaseResult, ...]
    lines: tuple[SourceLine, ...]
    shared_names: frozenset[str]
    findings: tuple[Finding, ...] = ()
    model: tuple[Modelled, ...] = ()
    copies: Mapping[str, Copy] = field(default_factory=dict)


def hint_at_misses(
    checks: Sequence[CheckResult],
    exercise: Exercise,
    cases: Sequence[CaseResult],
    lines: Sequence[SourceLine],
    submission: Submission,
    findings: Sequence[Finding] = (),
    model: Sequence[Modelled] = (),
    parts: Sequence[PartResult] = (),
) -> tuple[CheckResult, ...]:
    """The checks, those that lost points with their hints. `model`: what the timing model said of
    the launches, if it was asked. What ended a part is told in the place of what its cases show.
    """
    numbered = tuple(line for line in lines if line.line is not None)
    shared_names = find_shared_names(submission.text)
    copies = find_copies(
        submission.text, [buffer.name for buffer in exercise.buffers if buffer.role is Role.INPUT]
    )
    specs = {spec.name: spec for spec in exercise.checks}
    ended = {part.part: part.failure for part in parts}

    def hint_at(check: CheckResult) -> str:
        spec = specs[check.name]
        if spec.part is not None and (failure := ended.get(spec.part)):
            return f"{failure.message.removesuffix('.')}. {advise(failure) or spec.hint}".rstrip()
        own_cases = tuple(case for case in cases if case.part == spec.part)
        return _write_hint(
            check.metric,
            spec.hint,
            Evidence(own_cases, numbered, shared_names, tuple(findings), tuple(model), copies),
        )

    return tuple(
        replace(check, hint=hint_at(check)) if check.status in _LOST_POINTS else check
        for check in checks
    )


def hint_at_failure(checks: Sequence[CheckResult], failure: Failure) -> tuple[CheckResult, ...]:
    """The checks, the failed one (`correctness`) with what ended the run and what to try."""
    hint = " ".join(part for part in (failure.message, advise(failure)) if part)
    failed = (CheckStatus.FAILED, "correctness")
    return tuple(
        replace(check, hint=hint) if (check.status, check.metric) == failed else check
        for check in checks
    )


def advise(failure: Failure) -> str:
    """What to try after a failure: its own advice, else that of its first finding's kind, else
    nothing."""
    kinds = [finding.kind for finding in failure.findings]
    return failure.advice or (_TRY_FINDING[kinds[0]] if kinds else "")


def explain_failed_case(failure: Failure, case: Case, right: Sequence[CaseResult]) -> Failure:
    """The failure of a case, with what its sizes tell beside those of the cases before it, which
    went right, first in its advice."""
    strays = any(finding.kind is FindingKind.OUT_OF_BOUNDS for finding in failure.findings)
    if case.hidden or not strays:
        return failure
    shapes = explain_shapes([each.sizes for each in right if not each.hidden], [case.sizes])
    return replace(failure, advice=f"{shapes} {advise(failure)}") if shapes else failure


def _write_hint(metric: str, own_words: str, evidence: Evidence) -> str:
    shown = _SHOW[metric](evidence) if metric in _SHOW else ""
    sentence = f"{shown}." if shown and not shown.endswith((".", "?", "!")) else shown
    return " ".join(part for part in (sentence, own_words or _TRY.get(metric, "")) if part)


# --- what the counters show -----------------------------------------------------------------------


def _wrong_case(evidence: Evidence) -> str:
    wrong = [case for case in evidence.cases if not case.passed]
    if not wrong:
        return ""
    case = next((case for case in wrong if not case.hidden), wrong[0])
    told = f"case {case.name}: {case.message}"
    public = [case for case in evidence.cases if not case.hidden]
    shapes = explain_shapes(
        [case.sizes for case in public if case.passed],
        [case.sizes for case in public if not case.passed],
    )
    return f"{told}. {shapes}" if shapes else told


def _bank_conflicts(evidence: Evidence) -> str:
    line = _worst(evidence, lambda c: c.shared_wavefronts_excessive)
    if line is None:
        return ""
    c = line.counters
    ways = (
        (c.shared_load_wavefronts, c.shared_load_instructions, False),
        (c.shared_store_wavefronts, c.shared_store_instructions, True),
        (
            c.shared_atomic_wavefronts,
            c.shared_atomic_instructions,
            False,
        ),  # `atomicAdd(&bins[i], 1)` assigns nothing
    )
    instructions = sum(count for _, count, _ in ways)
    # An instruction without an active lane is counted, but takes no wavefront and has no ideal:
    # each active one has at least one.
    active = min(float(instructions), c.shared_wavefronts_ideal) or 1.0
    # Asynchronous copies and generic addresses take wavefronts, but are no instructions of shared
    # memory.
    each = [
        (wavefronts * instructions / (active * count), stored)
        for wavefronts, count, stored in ways
        if count
    ]
    takes, stored = max(each, default=(float(c.shared_wavefronts), bool(c.shared_store_wavefronts)))
    access = quote_access(line.text, shared=True, stored=stored, shared_names=evidence.shared_names)
    return (
        f"line {line.line}: {access} takes {_average(takes, 'wavefront')} where"
        f" {_number(c.shared_wavefronts_ideal / active)} would do"
    )


def _store_efficiency(evidence: Evidence) -> str:
    return _efficiency(evidence, lambda c: c.global_writes, stored=True)


def _load_efficiency(evidence: Evidence) -> str:
    shown = _efficiency(evidence, lambda c: c.global_reads, stored=False)
    line = _worst(evidence, lambda c: c.global_reads.wasted_bytes)
    return ". ".join(part for part in (shown, _name_copy(line, evidence)) if part)


def _name_copy(line: SourceLine | None, evidence: Evidence) -> str:
    """Whether what a line reads so poorly is the copy of an input that the file makes itself: most
    often a transposed one."""
    if (
        line is None
        or line.counters.global_reads.sectors < _SCATTERED * line.counters.global_reads.requests
    ):
        return ""
    access = next(
        (
            access
            for access in find_accesses(line.text)
            if access.read and access.name in evidence.copies
        ),
        None,
    )
    if access is None:
        return ""
    copy = evidence.copies[access.name]
    return (
        f"{access.name} is the copy of {copy.source} that {copy.maker} makes, and neighbouring"
        f" lanes of the warp read {access.text} from different rows of it, down a column: a sector"
        f" for each of them. Where {copy.source} itself is read along a row, no copy is needed"
    )


def _efficiency(
    evidence: Evidence, accesses: Callable[[Counters], GlobalAccesses], *, stored: bool
) -> str:
    line = _worst(evidence, lambda c: accesses(c).wasted_bytes)
    return (
        _sectors(line, evidence, accesses(line.counters), stored=stored) if line is not None else ""
    )


def _sectors(line: SourceLine, evidence: Evidence, moved: GlobalAccesses, *, stored: bool) -> str:
    access = quote_access(
        line.text, shared=False, stored=stored, shared_names=evidence.shared_names
    )
    if moved.sectors <= moved.sectors_ideal:
        # A broadcast, say: its sectors cannot be fewer, but most of their bytes go unused.
        return (
            f"line {line.line}: {access} uses {100 * moved.bytes / (32 * moved.sectors):.3g} % of"
            " the bytes that it moves"
        )
    return (
        f"line {line.line}: {access} moves {_average(moved.sectors / moved.requests, 'sector')} a"
        f" request where {_number(moved.sectors_ideal / moved.requests)} would do"
    )


def _most_sectors(evidence: Evidence, *, stored: bool) -> str:
    def count(c: Counters) -> int:
        return (c.global_writes if stored else c.global_reads).sectors

    line = _worst(evidence, count)
    if line is None:
        return ""
    access = quote_access(
        line.text, shared=False, stored=stored, shared_names=evidence.shared_names
    )
    share = count(line.counters) / sum(count(other.counters) for other in evidence.lines)
    return (
        f"line {line.line}: {access} moves {count(line.counters):,} sectors, {100 * share:.0f} %"
        " of all"
    )


def _most_instructions(evidence: Evidence) -> str:
    line = _worst(evidence, lambda c: c.instructions_executed)
    if line is None:
        return ""
    share = line.counters.instructions_executed / sum(
        other.counters.instructions_executed for other in evidence.lines
    )
    return f"line {line.line}: `{line.text}` takes {100 * share:.0f} % of all executed instructions"


def _slow(evidence: Evidence) -> str:
    """Why a kernel may be slow: conflicts first, then poor stores, then poor loads; before them,
    what binds it on the model."""
    return ". ".join(part for part in (_bound(evidence), _slow_line(evidence)) if part)


def _bound(evidence: Evidence) -> str:
    """`on the model it is bound by latency: ...`, of the launch that takes longest."""
    longest = max(evidence.model, key=lambda launch: launch.time_ms, default=None)
    if longest is None or not longest.bounds:
        return ""
    first, *others = longest.bounds
    used = ", ".join(
        f"{bound.resource} {bound.used:.0%} used"
        for bound in ([] if first.resource == "latency" else [first]) + others
    )
    return f"on the model it is bound by {first.resource} ({used}). {first.advice.rstrip('.')}"


def _slow_line(evidence: Evidence) -> str:
    total = sum((line.counters for line in evidence.lines), Counters())
    if total.shared_wavefronts_excessive:
        return _bank_conflicts(evidence)
    if (total.global_store_efficiency or 1.0) < _POOR_EFFICIENCY:
        return _store_efficiency(evidence)
    return (
        _load_efficiency(evidence)
        if (total.global_load_efficiency or 1.0) < _POOR_EFFICIENCY
        else ""
    )


def _worst(evidence: Evidence, waste: Callable[[Counters], int]) -> SourceLine | None:
    """The line that wastes most, None when none wastes anything."""
    worst = max(evidence.lines, key=lambda line: waste(line.counters), default=None)
    return worst if worst is not None and waste(worst.counters) > 0 else None


def _average(value: float, noun: str) -> str:
    """`32 wavefronts`, `31.9 wavefronts on average`."""
    plural = "" if value == 1 else "s"
    return f"{_number(value)} {noun}{plural}" + ("" if value == int(value) else " on average")


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _first_finding(evidence: Evidence) -> str:
    """The findings themselves stand in the report: how many there are, and what to do about the
    first one."""
    if not evidence.findings:
        return ""
    first, *others = evidence.findings
    more = f"the first of {len(others) + 1} findings: " if others else ""
    place = f"line {first.line}: " if first.line else ""
    return f"{more}{place}{_TRY_FINDING[first.kind].removesuffix('.')}"


_SHOW: Mapping[str, Callable[[Evidence], str]] = {
    "correctness": _wrong_case,
    "sanitized": _first_finding,
    "shared_bank_conflicts": _bank_conflicts,
    "shared_wavefronts": _bank_conflicts,
    "global_store_efficiency": _store_efficiency,
    "global_load_efficiency": _load_efficiency,
    "global_store_sectors": lambda evidence: _most_sectors(evidence, stored=True),
    "global_load_sectors": lambda evidence: _most_sectors(evidence, stored=False),
    "instructions_executed": _most_instructions,
    **dict.fromkeys(
        (
            "time_ms",
            "speedup_over_naive",
            "bandwidth_gbps",
            "bandwidth_fraction",
            "gflops",
            "compute_fraction",
        ),
        _slow,
    ),
}

# --- what to try ----------------------------------------------------------------------------------

_FASTER = (
    "Let each thread move or compute several elements, so that more of them are in flight at a"
    " time."
)

_TRY: Mapping[str, str] = {
    "correctness": (
        "Work the index arithmetic of the first wrong element through by hand, for the block and"
        " thread that write it."
    ),
    "shared_bank_conflicts": (
        "Make the 32 lanes of a warp fall into 32 banks (bank = word index mod 32): pad the rows of"
        " the tile by one element, or swizzle the column."
    ),
    "shared_wavefronts": (
        "Read shared memory less often: keep what a thread uses again in registers, or read several"
        " elements at once."
    ),
    "global_store_efficiency": (
        "Let consecutive threads (threadIdx.x) write consecutive addresses; a shared tile can turn"
        " the data first."
    ),
    "global_load_efficiency": "Let consecutive threads (threadIdx.x) read consecutive addresses.",
    "global_store_sectors": (
        "Write each element once, and let consecutive threads (threadIdx.x) write consecutive"
        " addresses."
    ),
    "global_load_sectors": (
        "Load what several threads of a block need once into a shared tile, and let them read it"
        " there."
    ),
    "instructions_executed": (
        "Take index arithmetic that does not change out of the loop, and unroll it."
    ),
    "sanitized": "A right result by luck is not right on every GPU and every day.",
    "occupancy": (
        "Use fewer registers a thread or less shared memory a block, or another block size, so that"
        " more warps are resident."
    ),
    **dict.fromkeys(
        (
            "time_ms",
            "speedup_over_naive",
            "bandwidth_gbps",
            "bandwidth_fraction",
            "gflops",
            "compute_fraction",
        ),
        _FASTER,
    ),
}

_TRY_FINDING: Mapping[FindingKind, str] = {
    FindingKind.OUT_OF_BOUNDS: (
        "Guard the access with the matrix's sizes (`if (x < cols && y < rows)`), and check which of"
        " the two belongs to which index."
    ),
    FindingKind.MISALIGNED: (
        "A float2 or float4 access needs an address that is a multiple of 8 or 16 bytes: check the"
        " row length and the column that it starts at."
    ),
    FindingKind.BARRIER_DIVERGENCE: (
        "Move __syncthreads() out of the branch or the loop that some threads of the block leave"
        " early."
    ),
    FindingKind.INSTRUCTION_LIMIT: (
        "Check that every loop ends: does its counter move towards its bound for all sizes, 1 x 1"
        " too?"
    ),
    FindingKind.WALL_LIMIT: (
        "Check that every loop ends, and that no thread waits for another one that never comes."
    ),
    FindingKind.TRAP: "The kernel ended itself (assert, __trap): check the condition at that line.",
    FindingKind.RACE: (
        "Let all threads meet in a __syncthreads() between the two accesses, outside of any branch."
    ),
    FindingKind.UNINITIALIZED_READ: (
        "Write every element before it is read: outputs, scratch and shared memory start with"
        " garbage."
    ),
    FindingKind.COPY_UNDER_WAY: (
        "Wait for the asynchronous copy, then let all threads meet in a __syncthreads(), before its"
        " data is used."
    ),
    FindingKind.ABSENT_LANES: (
        "Name in a mask just the lanes that execute the operation, or move it to where all of"
        " them do."
    ),
    FindingKind.ORDER_DEPENDENT: (
        "Nothing says which block or warp runs first: look for a missing __syncthreads(), and for"
        " blocks that use each other's results."
    ),
    FindingKind.INPUT_MODIFIED: (
        "Write to the output or to a scratch buffer only: the inputs belong to the grader."
    ),
}
