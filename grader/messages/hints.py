"""The hints under the table: for each check that lost points, a sentence with the observation and a
sentence with the advice.

The metric's row holds both; the author's hint in the spec replaces the advice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from grader.messages.accesses import find_accesses, quote_access
from grader.messages.findings import advise, advise_on_findings
from grader.messages.host_findings import describe_mistakes
from grader.messages.output_advice import (
    OUTPUT_ADVICE,
    describe_case,
    explain_sizes,
    find_shown_case,
)
from grader.messages.phrases import join_sentences
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
from grader.spec.exercise import CheckSpec
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


class _Hint(NamedTuple):
    """The text of a hint, its action, and the label of the check to whose hint it refers."""

    text: str
    action: str
    refers_to: str | None = None


class _Shown(NamedTuple):
    """An observation, the line that it is about, and a conclusion, which belongs to the advice."""

    text: str = ""
    line: int | None = None
    conclusion: str = ""

    @property
    def place(self) -> str:
        return "" if self.line is None else f"line {self.line}: "

    @property
    def whole(self) -> str:
        return join_sentences((self.place + self.text, self.conclusion)) if self.text else ""


_NOTHING = _Shown()


def hint_at_misses(
    checks: Sequence[CheckResult], specs: Sequence[CheckSpec], facts: HintFacts
) -> tuple[CheckResult, ...]:
    """The checks, with hints for those that lost points. No observation is repeated: the hint of a
    slow kernel refers to the check that shows the cause."""
    fitting = [replace(spec, hint=spec.hint_for(facts.values)) for spec in specs]
    by_name = {spec.name: spec for spec in fitting}
    advice = {spec.metric: spec.hint for spec in fitting if spec.hint and spec.part is None}
    labels: dict[str, str] = {}
    hinted: dict[str, CheckResult] = {}
    lost = [check for check in checks if check.status.lost_points]
    for check in sorted(lost, key=lambda each: METRICS[each.metric].shows is Shows.SLOWNESS):
        label = check.headline or check.title
        text, action, refers_to = _write_hint(by_name[check.name], facts, labels, label, advice)
        hinted[check.name] = replace(check, hint=text, action=action, refers_to=refers_to)
    return tuple(hinted.get(check.name, check) for check in checks)


def hint_at_failure(checks: Sequence[CheckResult], failure: Failure) -> tuple[CheckResult, ...]:
    """The checks; the failed `correctness` gets the failure's message and advice as its hint."""
    hint = " ".join(part for part in (failure.message, advise(failure)) if part)
    failed = (CheckStatus.FAILED, CORRECTNESS)
    return tuple(
        replace(check, hint=hint) if (check.status, check.metric) == failed else check
        for check in checks
    )


def _write_hint(
    spec: CheckSpec,
    facts: HintFacts,
    labels: dict[str, str],
    label: str,
    advice: Mapping[str, str],
) -> _Hint:
    """The failure of a part replaces the observation on its cases. `labels` maps observations to
    the labels of the checks that show them, `advice` metrics to the author's hints."""
    ended = {part.part: part.failure for part in facts.parts}
    if spec.part is not None and (failure := ended.get(spec.part)):
        tried = advise(failure) or spec.hint
        line = failure.findings[0].line if failure.findings else None
        return _Hint(join_sentences((failure.message, tried)), f"{_Shown('', line).place}{tried}")
    cases = [case for case in facts.cases if case.part == spec.part]
    metric = METRICS[spec.metric]
    if metric.shows is Shows.SLOWNESS:
        hint = _explain_slowness(facts, spec, labels, advice)
        first = labels.setdefault(hint.text, label)
        return hint if first == label else _refer_to(first)
    if metric.shows is Shows.FINDING and facts.findings:
        first_only = advise_on_findings(facts.findings[:1])
        return _Hint(
            join_sentences((advise_on_findings(facts.findings),)), join_sentences((first_only,))
        )
    shown = _SHOW[metric.shows](replace(facts, cases=cases))
    if shown.text:
        labels.setdefault(shown.whole, label)
    text = spec.hint or _advise(metric, facts)
    return _make_hint(shown, _choose_advice(text, metric.shows, cases, facts))


def _make_hint(shown: _Shown, advice: str) -> _Hint:
    """The action is the advice for the line, or the observation where there is no advice."""
    action = join_sentences((shown.conclusion, advice)) or join_sentences((shown.text,))
    return _Hint(join_sentences((shown.whole, advice)), shown.place + action)


def _refer_to(label: str, before: str = "") -> _Hint:
    text = f"{before}: see {label}." if before else f"See {label}."
    return _Hint(text, text, label)


def _choose_advice(text: str, shows: Shows, cases: Sequence[CaseResult], facts: HintFacts) -> str:
    """The author's or the metric's advice, unless the run shows the cause: then the cause's
    advice."""
    if shows is Shows.WRONG_CASE and (case := find_shown_case(cases)) is not None:
        # Wrong elements at an edge suggest that the kernel ignores the edge. A read of unwritten
        # memory is another explanation, and was found in this run.
        unwritten = FindingKind.UNINITIALIZED_READ
        if case.cause == "edge" and any(each.kind is unwritten for each in facts.findings):
            return text
        if (advice := OUTPUT_ADVICE.get(case.cause or "")) is not None:
            return advice
        return "" if explain_sizes(cases) else text
    return text


def _advise(metric: Metric, facts: HintFacts) -> str:
    """The metric's advice: that on atomics if they cause most of the waste at the worst line."""
    if metric.advice_on_atomics and metric.shows in _ATOMICS:
        waste, of_atomics = _ATOMICS[metric.shows]
        worst = _worst(facts, waste)
        if worst is not None and 2 * of_atomics(worst.counters) > waste(worst.counters):
            return metric.advice_on_atomics
    return metric.advice


# --- what the counters show -----------------------------------------------------------------------


def _wrong_case(facts: HintFacts) -> _Shown:
    case = find_shown_case(facts.cases)
    if case is None:
        return _NOTHING
    return _Shown(describe_case(case), conclusion=explain_sizes(facts.cases))


def _bank_conflicts(facts: HintFacts) -> _Shown:
    line = _worst(facts, lambda c: c.shared_wavefronts_excessive)
    if line is None:
        return _NOTHING
    c = line.counters
    ways = (
        (c.shared_load_wavefronts, c.shared_load_instructions, False),
        (c.shared_store_wavefronts, c.shared_store_instructions, True),
        # `atomicAdd(&bins[i], 1)` assigns nothing.
        (c.shared_atomic_wavefronts, c.shared_atomic_instructions, False),
    )
    instructions = sum(count for _, count, _ in ways)
    # An instruction without an active lane takes no wavefront; an active one has an ideal of 1.
    active = min(float(instructions), c.shared_wavefronts_ideal) or 1.0
    # Asynchronous copies take wavefronts, but are no instructions of shared memory.
    each = [
        (wavefronts * instructions / (active * count), stored)
        for wavefronts, count, stored in ways
        if count and wavefronts
    ]
    whole = (c.shared_wavefronts / active, bool(c.shared_store_wavefronts))
    takes, stored = max(each, default=whole)
    access = _quote(line, facts, stored=stored, shared=True)
    ideal = _number(c.shared_wavefronts_ideal / active)
    return _Shown(
        f"{access} takes {_average(takes, 'wavefront')} where {ideal} would do", line.line
    )


def _most_wavefronts(facts: HintFacts) -> _Shown:
    line = _worst(facts, lambda c: c.shared_wavefronts)
    if line is None or (conflicts := _bank_conflicts(facts)).text:
        return _NOTHING if line is None else conflicts
    c = line.counters
    stored = c.shared_store_wavefronts > c.shared_load_wavefronts
    access = _quote(line, facts, stored=stored, shared=True)
    share = _share(facts, line, lambda c: c.shared_wavefronts)
    return _Shown(f"{access} takes {c.shared_wavefronts:,} wavefronts, {share} of all", line.line)


def _wasted_stores(facts: HintFacts) -> _Shown:
    return _describe_waste(facts, lambda c: c.global_writes, stored=True)


def _wasted_loads(facts: HintFacts) -> _Shown:
    shown = _describe_waste(facts, lambda c: c.global_reads, stored=False)
    worst = _worst(facts, lambda c: c.global_reads.wasted_bytes)
    return shown if worst is None else shown._replace(conclusion=_name_copy(worst, facts))


def _name_copy(line: SourceLine, facts: HintFacts) -> str:
    """A note where the badly read buffer is a copy of an input that the file itself makes, mostly a
    transposed copy."""
    reads = line.counters.global_reads
    scattered = reads.sectors >= _SCATTERED * reads.requests
    accesses = find_accesses(line.text) if scattered else ()
    for access in accesses:
        if access.read and access.name in facts.copies:
            copy = facts.copies[access.name]
            return (
                f"{access.name} is the copy of {copy.source} that {copy.maker} makes, and"
                f" neighbouring lanes of the warp read {access.text} from different rows of it,"
                f" down a column: a sector for each of them. Where {copy.source} itself is read"
                " along a row, no copy is needed"
            )
    return ""


def _describe_waste(
    facts: HintFacts, accesses: Callable[[Counters], GlobalAccesses], *, stored: bool
) -> _Shown:
    line = _worst(facts, lambda c: accesses(c).wasted_bytes)
    if line is None:
        return _NOTHING
    moved = accesses(line.counters)
    access = _quote(line, facts, stored=stored)
    if moved.sectors <= moved.sectors_ideal:
        # A broadcast, say: its sectors cannot be fewer, but most of their bytes go unused.
        used = f"{100 * moved.bytes / (32 * moved.sectors):.3g} %"
        return _Shown(f"{access} uses {used} of the bytes that it moves", line.line)
    each = _average(moved.sectors / moved.requests, "sector")
    ideal = _number(moved.sectors_ideal / moved.requests)
    return _Shown(f"{access} moves {each} a request where {ideal} would do", line.line)


def _most_sectors(facts: HintFacts, *, stored: bool) -> _Shown:
    def count(c: Counters) -> int:
        return (c.global_writes if stored else c.global_reads).sectors

    line = _worst(facts, count)
    if line is None:
        return _NOTHING
    access = _quote(line, facts, stored=stored)
    sectors = count(line.counters)
    return _Shown(
        f"{access} moves {sectors:,} sectors, {_share(facts, line, count)} of all", line.line
    )


def _most_instructions(facts: HintFacts) -> _Shown:
    line = _worst(facts, lambda c: c.instructions_executed)
    if line is None:
        return _NOTHING
    share = _share(facts, line, lambda c: c.instructions_executed)
    return _Shown(f"`{line.text}` takes {share} of all executed instructions", line.line)


def _explain_slowness(
    facts: HintFacts, spec: CheckSpec, labels: Mapping[str, str], advice: Mapping[str, str]
) -> _Hint:
    """The bound on the model, and the most wasteful line with the advice for this waste; without
    such a line the advice of the check. The author's advice replaces the metric's. An observation
    of another hint becomes a reference to that hint."""
    total, bound = facts.total, find_bound(facts.model)
    bound_by = "" if bound is None else f"on the model it is bound by {bound.resource}"
    metric = find_waste(total, facts.passed)
    shown = _SHOW[METRICS[metric].shows](facts) if metric is not None else _NOTHING
    if metric is None or not shown.text:
        generic = METRICS[spec.metric].advice
        chosen = choose_advice(spec.hint, generic, bound, total, facts.threads)
        return _make_hint(_Shown(bound_by), chosen)
    if shown.whole in labels:
        return _refer_to(labels[shown.whole], bound_by)
    tried = advice.get(metric) or _advise(METRICS[metric], facts)
    if not bound_by:
        return _make_hint(shown, tried)
    return _make_hint(_Shown(bound_by), join_sentences((shown.whole, tried)))


def _share(facts: HintFacts, line: SourceLine, count: Callable[[Counters], int]) -> str:
    """The line's part of the counts of all lines, in percent."""
    whole = sum(count(other.counters) for other in facts.lines)
    return f"{100 * count(line.counters) / whole:.0f} %"


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
_SHOW: Mapping[Shows, Callable[[HintFacts], _Shown]] = {
    Shows.NOTHING: lambda facts: _NOTHING,
    Shows.WRONG_CASE: _wrong_case,
    Shows.FINDING: lambda facts: _NOTHING,
    Shows.BANK_CONFLICTS: _bank_conflicts,
    Shows.WAVEFRONTS: _most_wavefronts,
    Shows.WASTED_LOADS: _wasted_loads,
    Shows.WASTED_STORES: _wasted_stores,
    Shows.LOADS: lambda facts: _most_sectors(facts, stored=False),
    Shows.STORES: lambda facts: _most_sectors(facts, stored=True),
    Shows.INSTRUCTIONS: _most_instructions,
    Shows.HOST_MISTAKES: lambda facts: _Shown(describe_mistakes(facts.host_mistakes)),
}
