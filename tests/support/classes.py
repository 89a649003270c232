"""Classes to make reports of: scores as files, and the summary that names them. No timing is real:
they test the report."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.judging.evidence import Subject
from grader.judging.score import failed_score
from grader.records import (
    BatchEntry,
    BatchExercise,
    BatchSummary,
    CheckStatus,
    Dim3,
    EntryCheck,
    Failure,
    Finding,
    FindingKind,
    MetricValue,
    Score,
    Source,
    Status,
    Timing,
)
from grader.report.json import write_score
from tests.support.factories import (
    CROOKED_LINES,
    GPU,
    SOURCE,
    make_case,
    make_exercise,
    make_graded,
    make_submission,
)

HOSTILE = """</script><script>alert(1)</script><img src=x onerror=alert(2)>"'`{{7*7}}{% raw %}\x1b[31m\u202e&lt;<!--]]>"""


def timed(
    score: Score,
    milliseconds: float,
    *,
    naive: float = 0.63,
    reference: float = 0.188,
    gflops: float | None = None,
) -> Score:
    """A score of a GPU with these median times, where nothing is pending; a transpose of 8192²
    unless it has GFLOP/s."""
    figures = {
        "time_ms": milliseconds,
        "naive_time_ms": naive,
        "bandwidth_gbps": 0.5369 / milliseconds * 1000,
        "gflops": gflops,
        "compute_fraction": None if gflops is None else gflops / 1000 / GPU.peak_fp32_tflops,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    metrics = tuple(
        (
            MetricValue(metric.name, known[metric.name], metric.unit, Source.MEASURED)
            if metric.name in known
            else metric
        )
        for metric in score.metrics
    )
    plans = {"submission": milliseconds, "naive": naive, "reference": reference}
    timings = tuple(
        Timing(plan, ms, (ms * 0.99, ms * 1.02), (ms,) * 21) for plan, ms in plans.items()
    )
    checks = tuple(
        replace(check, status=CheckStatus.PASSED, points=check.max_points, pending_points=0.0)
        if check.pending_points
        else check
        for check in score.checks
    )
    return replace(
        score,
        metrics=metrics,
        timings=timings,
        device=GPU,
        checks=checks,
        score=score.score + score.pending_points,
        judged_points=score.max_score,
        message=f"{score.score + score.pending_points:g} of {score.max_score:g} points",
        why=score.why.removesuffix("25 points are pending").removesuffix("; "),
        status=Status.PASSED if score.status is Status.INCONCLUSIVE else score.status,
    )


def failed(
    status: Status,
    *,
    name: str = "transpose.cu",
    message: str = "it failed",
    detail: str = "",
    text: str = SOURCE,
) -> Score:
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS, message, "transpose", 11, Dim3(1, 2), Dim3(31), "out", 128, 9
    )
    findings = (finding,) if status is Status.RUNTIME_ERROR else ()
    failure = Failure(status, message, detail, "try again", findings)
    subject = Subject(make_exercise(), make_submission(name, text), GPU, {}, seed=1)
    return failed_score(subject, failure)


def make_scores(count: int, seed: int = 1) -> list[Score]:
    """A plausible class: about half get full marks, some are slow, some wrong, a few do not
    compile."""
    generator = random.Random(seed)
    good, crooked = make_graded(), make_graded(lines=CROOKED_LINES)
    wrong = make_graded(
        cases=(
            make_case(),
            make_case("ragged", passed=False),
            make_case("primes", passed=False, hidden=True),
        )
    )
    failures = [
        failed(status)
        for status in (
            Status.COMPILE_ERROR,
            Status.RUNTIME_ERROR,
            Status.TIMEOUT,
            Status.GRADER_ERROR,
        )
    ]
    scores = []
    for _ in range(count):
        place = generator.random()
        if place < 0.5:
            scores.append(timed(good, generator.lognormvariate(-1.6, 0.12)))
        elif place < 0.75:
            scores.append(timed(crooked, generator.lognormvariate(-0.9, 0.35)))
        else:
            scores.append(wrong if place < 0.9 else generator.choice(failures))
    return scores


def write_class(
    out: Path, scores: Sequence[Score], names: Sequence[str] = (), *, source: str | None = SOURCE
) -> BatchSummary:
    """The batch folder of a class, as `grade batch` leaves it, and its summary."""
    for folder in ("scores", "sources"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    if source is not None:
        (out / "sources" / "same.cu").write_text(source, errors="surrogateescape")
    entries = []
    for number, score in enumerate(scores):
        path = f"scores/s{number:05}.json"
        write_score(score, out / path)
        student = names[number] if number < len(names) else f"student {number:05}"
        entries.append(
            make_entry(
                student, score, path, source_path="sources/same.cu" if source is not None else None
            )
        )
    return make_summary(entries)


def make_entry(
    student: str, score: Score, score_path: str, *, source_path: str | None
) -> BatchEntry:
    return BatchEntry(
        student=student,
        exercise="transpose",
        submission="transpose.cu",
        sha256="0" * 64,
        status=score.status,
        score=score.score,
        max_score=100,
        judged_points=score.judged_points,
        total_points=score.max_score,
        seconds=2.0,
        device="NVIDIA H100 SXM",
        score_path=score_path,
        duplicate_of=None,
        message=score.message,
        source_path=source_path,
        why=score.why,
        causes=score.causes,
        checks=tuple(
            EntryCheck(
                check.headline or check.title,
                check.status,
                check.points,
                check.max_points,
                check.bonus,
            )
            for check in score.checks
        ),
    )


def make_summary(entries: Sequence[BatchEntry]) -> BatchSummary:
    exercise = BatchExercise("transpose", "Matrix transpose without bank conflicts", 100)
    return BatchSummary(
        (exercise,), tuple(entries), "2026-01-31T10:00:00", "2026-01-31T10:05:00", "0.1.0", "gpu"
    )
