"""The hints under the table: for each check that lost points, a sentence with the observation and a
sentence with the advice.

The metric's row holds both; the author's hint in the spec replaces the advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.messages.accesses import find_accesses, quote_access
from grader.messages.findings import advise, advise_on_findings
from grader.messages.host_findings import describe_mistakes
from grader.messages.output_advice import OUTPUT_ADVICE
from grader.messages.sizes import explain_shapes
from grader.messages.slowness import choose_advice, find_bound, find_waste
from grader.metrics import CORRECTNESS, METRICS, Metric, Shows
from grader.records import (
    CaseResult,
    CheckResult,
    Counters,
    Failure,
    Finding,
    FindingKind,
    GlobalAccesses,
    Modelled,
    PartResult,
    SourceLine,
)
from grader.records.programs import HostMistake
from grader.spec.exercise import Case, CheckSpec
from grader.statuses import CheckStatus

_SCATTERED = 8
"""Sectors per request, averaged over a line's loads, from which lanes read from different rows: 32
neighbours take 4."""


@dataclass(frozen=True)
class Copy:
    """A scratch buffer as a kernel's parameter: the input that it copies, and the kernel that
    writes the copy."""

    source: str
    maker: str


@dataclass(frozen=True)
class HintFacts:
    """The facts for hints: cases, parts, counted source lines, findings, the modelled launches, the
    names of shared arrays, the kernel parameters that are copies of inputs, the number of threads
    of all launches, the mistakes in host code, the values of the metrics, and the metrics of the
    passed checks."""

    cases: Sequence[CaseResult]
    parts: Sequence[PartResult]
    lines: Sequence[SourceLine]
    findings: Sequence[Finding]
    model: Sequence[Modelled]
    shared_names: frozenset[str]
    copies: Mapping[str, Copy] = field(default_factory=dict)
    threads: int = 0
    host_mistakes: Sequence[HostMistake] = ()
    values: Mapping[str, float | None] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()

    @property
    def total(self) -> Counters:
        """The sum of all lines."""
        return sum((line.counters for line in self.lines), Counters())


def hint_at_misses(
    checks: Sequence[CheckResult], specs: Sequence[CheckSpec], facts: HintFacts
) -> tuple[CheckResult, ...]:
    """The checks, with hints for those that lost points. No observation is repeated: the hint of a
    slow kernel refers to the check that shows the cause."""
    fitting = [replace(spec, hint=spec.hint_for(facts.values)) for spec in specs]
    by_name = {spec.name: spec for spec in fitting}
    advice = {spec.metric: spec.hint for spec in fitting if spec.hint and spec.part is None}
    labels: dict[str, str] = {}
    hints: dict[str, str] = {}
    lost = [check for check in checks if check.status.lost_points]
    for check in sorted(lost, key=_is_timed):
        label = check.headline or check.title
        hints[check.name] = _write_hint(by_name[check.name], facts, labels, label, advice)
    return tuple(
        replace(check, hint=hints[check.name]) if check.name in hints else check for check in checks
    )


def _is_timed(check: CheckResult) -> bool:
    return METRICS[check.metric].shows is Shows.SLOWNESS


def hint_at_failure(checks: Sequence[CheckResult], failure: Failure) -> tuple[CheckResult, ...]:
    """The checks; the failed `correctness` gets the failure's message and advice as its hint."""
    hint = " ".join(part for part in (failure.message, advise(failure)) if part)
    failed = (CheckStatus.FAILED, CORRECTNESS)
    return tuple(
        replace(check, hint=hint) if (check.status, check.metric) == failed else check
        for check in checks
    )


def explain_failed_case(failure: Failure, case: Case, right: Sequence[CaseResult]) -> Failure:
    """The failure of a case. Its advice starts with a comparison of the case's sizes with the sizes
    of the right cases before it."""
    strays = any(finding.kind is FindingKind.OUT_OF_BOUNDS for finding in failure.findings)
    if case.hidden or not strays:
        return failure
    shapes = explain_shapes([each.sizes for each in right if not each.hidden], [case.sizes])
    return replace(failure, advice=f"{shapes} {advise(failure)}") if shapes else failure


def _write_hint(
    spec: CheckSpec,
    facts: HintFacts,
    labels: dict[str, str],
    label: str,
    advice: Mapping[str, str],
) -> str:
    """The failure of a part replaces the observation on its cases. `labels` maps observations to
    the labels of the checks that show them, `advice` metrics to the author's hints."""
    ended = {part.part: part.failure for part in facts.parts}
    if spec.part is not None and (failure := ended.get(spec.part)):
        return f"{failure.message.removesuffix('.')}. {advise(failure) or spec.hint}".rstrip()
    cases = [case for case in facts.cases if case.part == spec.part]
    metric = METRICS[spec.metric]
    if metric.shows is Shows.SLOWNESS:
        hint = _explain_slowness(facts, spec, labels, advice)
        return f"See {labels[hint]}." if labels.setdefault(hint, label) != label else hint
    shown = _SHOW[metric.shows](replace(facts, cases=cases))
    if shown:
        labels.setdefault(shown, label)
    text = spec.hint or _advise(metric, facts)
    return _join((shown, _choose_advice(text, metric.shows, cases, facts)))


def _choose_advice(text: str, shows: Shows, cases: Sequence[CaseResult], facts: HintFacts) -> str:
    """The author's or the metric's advice, unless the run shows the cause: then the cause's
    advice."""
    if shows is Shows.FINDING and facts.findings:
        return ""
    if shows is Shows.WRONG_CASE and (case := find_shown_case(cases)) is not None:
        if _explains_edge(case, facts):
            return text
        if (advice := OUTPUT_ADVICE.get(case.cause or "")) is not None:
            return advice
        return "" if _explain_sizes(cases) else text
    return text


def _advise(metric: Metric, facts: HintFacts) -> str:
    """The metric's advice: that on atomics if they cause most of the waste at the worst line."""
    if metric.advice_on_atomics and metric.shows in _ATOMICS:
        waste, of_atomics = _ATOMICS[metric.shows]
        worst = _worst(facts, waste)
        if worst is not None and 2 * of_atomics(worst.counters) > waste(worst.counters):
            return metric.advice_on_atomics
    return metric.advice


def _explains_edge(case: CaseResult, facts: HintFacts) -> bool:
    """Wrong elements at an edge suggest that the kernel ignores the edge. A read of unwritten
    memory is another explanation, and was found in this run."""
    unwritten = FindingKind.UNINITIALIZED_READ
    return case.cause == "edge" and any(each.kind is unwritten for each in facts.findings)


def _join(parts: Sequence[str]) -> str:
    """Sentences, each with its full stop."""
    whole = (part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)
    return " ".join(whole)


def describe_case(case: CaseResult) -> str:
    """The message of a wrong case: the start of its hint."""
    return f"case {case.name}: {case.message}"


# --- what the counters show -----------------------------------------------------------------------


def _wrong_case(facts: HintFacts) -> str:
    case = find_shown_case(facts.cases)
    return "" if case is None else _join((describe_case(case), _explain_sizes(facts.cases)))


def find_shown_case(cases: Sequence[CaseResult]) -> CaseResult | None:
    """The wrong case for the report: the first public case, whose sizes may be shown, else the
    first hidden one."""
    wrong = [case for case in cases if case.is_wrong]
    return next((case for case in wrong if not case.hidden), wrong[0] if wrong else None)


def _explain_sizes(cases: Sequence[CaseResult]) -> str:
    """A conclusion from the sizes of right and wrong cases."""
    public = [case for case in cases if not case.hidden]
    return explain_shapes(
        [case.sizes for case in public if case.passed],
        [case.sizes for case in public if case.is_wrong],
    )


def _bank_conflicts(facts: HintFacts) -> str:
    line = _worst(facts, lambda c: c.shared_wavefronts_excessive)
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
    # an active instruction has at least 1.
    active = min(float(instructions), c.shared_wavefronts_ideal) or 1.0
    # Asynchronous copies and generic addresses take wavefronts, but are no instructions of shared
    # memory.
    each = [
        (wavefronts * instructions / (active * count), stored)
        for wavefronts, count, stored in ways
        if count and wavefronts
    ]
    whole = (c.shared_wavefronts / active, bool(c.shared_store_wavefronts))
    takes, stored = max(each, default=whole)
    access = _quote(line, facts, stored=stored, shared=True)
    return (
        f"line {line.line}: {access} takes {_average(takes, 'wavefront')} where"
        f" {_number(c.shared_wavefronts_ideal / active)} would do"
    )


def _most_wavefronts(facts: HintFacts) -> str:
    line = _worst(facts, lambda c: c.shared_wavefronts)
    if line is None or (conflicts := _bank_conflicts(facts)):
        return "" if line is None else conflicts
    c = line.counters
    stored = c.shared_store_wavefronts > c.shared_load_wavefronts
    access = _quote(line, facts, stored=stored, shared=True)
    share = c.shared_wavefronts / sum(other.counters.shared_wavefronts for other in facts.lines)
    return (
        f"line {line.line}: {access} takes {c.shared_wavefronts:,} wavefronts, {100 * share:.0f} %"
        " of all"
    )


def _wasted_stores(facts: HintFacts) -> str:
    return _describe_waste(facts, lambda c: c.global_writes, stored=True)


def _wasted_loads(facts: HintFacts) -> str:
    shown = _describe_waste(facts, lambda c: c.global_reads, stored=False)
    copy = _name_copy(_worst(facts, lambda c: c.global_reads.wasted_bytes), facts)
    return ". ".join(part for part in (shown, copy) if part)


def _name_copy(line: SourceLine | None, facts: HintFacts) -> str:
    """A note where the badly read buffer is a copy of an input that the file itself makes, mostly a
    transposed copy."""
    if (
        line is None
        or line.counters.global_reads.sectors < _SCATTERED * line.counters.global_reads.requests
    ):
        return ""
    access = next(
        (
            access
            for access in find_accesses(line.text)
            if access.read and access.name in facts.copies
        ),
        None,
    )
    if access is None:
        return ""
    copy = facts.copies[access.name]
    return (
        f"{access.name} is the copy of {copy.source} that {copy.maker} makes, and neighbouring"
        f" lanes of the warp read {access.text} from different rows of it, down a column: a sector"
        f" for each of them. Where {copy.source} itself is read along a row, no copy is needed"
    )


def _describe_waste(
    facts: HintFacts, accesses: Callable[[Counters], GlobalAccesses], *, stored: bool
) -> str:
    line = _worst(facts, lambda c: accesses(c).wasted_bytes)
    if line is None:
        return ""
    moved = accesses(line.counters)
    access = _quote(line, facts, stored=stored)
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


def _most_sectors(facts: HintFacts, *, stored: bool) -> str:
    def count(c: Counters) -> int:
        return (c.global_writes if stored else c.global_reads).sectors

    line = _worst(facts, count)
    if line is None:
        return ""
    access = _quote(line, facts, stored=stored)
    share = count(line.counters) / sum(count(other.counters) for other in facts.lines)
    return (
        f"line {line.line}: {access} moves {count(line.counters):,} sectors, {100 * share:.0f} %"
        " of all"
    )


def _most_instructions(facts: HintFacts) -> str:
    line = _worst(facts, lambda c: c.instructions_executed)
    if line is None:
        return ""
    share = line.counters.instructions_executed / sum(
        other.counters.instructions_executed for other in facts.lines
    )
    return f"line {line.line}: `{line.text}` takes {100 * share:.0f} % of all executed instructions"


def _explain_slowness(
    facts: HintFacts, spec: CheckSpec, labels: Mapping[str, str], advice: Mapping[str, str]
) -> str:
    """The bound on the model, and the most wasteful line with the advice for this waste; without
    such a line the advice of the check. The author's advice replaces the metric's. An observation
    of another hint becomes a reference to that hint."""
    total, bound = facts.total, find_bound(facts.model)
    bound_by = "" if bound is None else f"on the model it is bound by {bound.resource}"
    metric = find_waste(total, facts.passed)
    shown = _SHOW[METRICS[metric].shows](facts) if metric is not None else ""
    if metric is None or not shown:
        generic = METRICS[spec.metric].advice
        return _join((bound_by, choose_advice(spec.hint, generic, bound, total, facts.threads)))
    if shown in labels:
        return _join((f"{bound_by}: see {labels[shown]}" if bound_by else f"See {labels[shown]}",))
    return _join((bound_by, shown, advice.get(metric) or _advise(METRICS[metric], facts)))


def _quote(line: SourceLine, facts: HintFacts, *, stored: bool, shared: bool = False) -> str:
    return quote_access(line.text, shared=shared, stored=stored, shared_names=facts.shared_names)


def _worst(facts: HintFacts, waste: Callable[[Counters], int]) -> SourceLine | None:
    """The line with the most waste, None where no line wastes anything."""
    worst = max(facts.lines, key=lambda line: waste(line.counters), default=None)
    return worst if worst is not None and waste(worst.counters) > 0 else None


def _average(value: float, noun: str) -> str:
    """`32 wavefronts`, `31.9 wavefronts on average`."""
    plural = "" if value == 1 else "s"
    return f"{_number(value)} {noun}{plural}" + ("" if value == int(value) else " on average")


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


_ATOMICS: Mapping[Shows, tuple[Callable[[Counters], int], Callable[[Counters], int]]] = {
    Shows.BANK_CONFLICTS: (
        lambda c: c.shared_wavefronts_excessive,
        lambda c: c.shared_atomic_conflicts,
    ),
    Shows.WASTED_STORES: (
        lambda c: c.global_writes.wasted_bytes,
        lambda c: c.global_atomics.wasted_bytes,
    ),
}
"""The waste of a line, and the part of it that atomics cause."""
_SHOW: Mapping[Shows, Callable[[HintFacts], str]] = {
    Shows.NOTHING: lambda facts: "",
    Shows.WRONG_CASE: _wrong_case,
    Shows.FINDING: lambda facts: advise_on_findings(facts.findings),
    Shows.BANK_CONFLICTS: _bank_conflicts,
    Shows.WAVEFRONTS: _most_wavefronts,
    Shows.WASTED_LOADS: _wasted_loads,
    Shows.WASTED_STORES: _wasted_stores,
    Shows.LOADS: lambda facts: _most_sectors(facts, stored=False),
    Shows.STORES: lambda facts: _most_sectors(facts, stored=True),
    Shows.INSTRUCTIONS: _most_instructions,
    Shows.HOST_MISTAKES: lambda facts: describe_mistakes(facts.host_mistakes),
}
