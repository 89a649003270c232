"""The steps of a grading of a whole program: compile it, run its cases in the checked mode, and
then the measured run with modelled times.

The compiler and the program are confined. The seed, the expected results and the judgement stay in
this process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cuda.confined import Builder, ConfinedRun, RunOrder, make_builder, run_confined
from grader.errors import GraderError, UsageError
from grader.grading.mistakes import SubmissionError
from grader.grading.program_results import (
    Expected,
    Mistakes,
    check_end,
    find_missing_work,
    findings_of,
    judge_run,
    launches_of,
    mistakes_of,
    unite,
)
from grader.grading.session import Job
from grader.grading.tools import find_toolchain
from grader.judging.evidence import Checked
from grader.judging.overlaps import estimate_time, measure_overlap
from grader.messages.programs import advise_on_compilation
from grader.metrics import METRICS
from grader.plumbing.cache import cache_key, recall, remember
from grader.plumbing.identity import grader_identity
from grader.records import (
    CaseResult,
    Estimate,
    Failure,
    Finding,
    MeasuredProgram,
    Progress,
    Status,
    ToolLimits,
)
from grader.spec.draws import draw_cases, draw_order_seed
from grader.spec.exercise import Case, Exercise, Tolerance
from grader.spec.program_oracle import ask_oracle
from grader.spec.whole_program import FILES_FOLDER, MEASURED, ExpectedFrom, RunSpec, WholeProgram

_REFERENCE = "reference"


@dataclass(frozen=True)
class _Grading:
    """A grading of a compiled program. `program` and `reference` are executable files."""

    job: Job
    spec: WholeProgram
    builder: Builder
    program: Path
    reference: Path | None

    @property
    def tolerance(self) -> Tolerance:
        tolerance = self.job.exercise.tolerance
        assert isinstance(tolerance, Tolerance)  # the schema of programs
        return tolerance


def grade_on_program(job: Job) -> bool:
    """Grades a whole program. Returns whether a repetition gives the same score. Raises
    SubmissionError."""
    with _open(job) as grading:
        cases = draw_cases(job.exercise, job.seed)
        findings: list[Finding] = []
        mistakes: list[Mistakes] = []
        clean = 0
        for number, case in enumerate(cases):
            job.options.show(Progress("checking cases", number, len(cases)))
            ran = _run_case(grading, case, grading.spec.runs[case.name])
            found = findings_of(ran, case, grading.spec.submit[0])
            clean += not found
            findings += found
            mistakes.append(mistakes_of(ran, case))
        job.evidence.checked = Checked(clean / len(cases), _unite_findings(findings))
        job.evidence.host_mistakes = unite(mistakes)
        job.evidence.measured = MeasuredProgram(host_mistakes=len(job.evidence.host_mistakes))
        if job.evidence.all_right:
            _measure(grading)
    return True


@contextmanager
def _open(job: Job) -> Iterator[_Grading]:
    """Compiles the submission, and the reference where the expected results are its own."""
    exercise, spec = job.exercise, job.exercise.program
    assert spec is not None
    if job.choice.kind != "emulated":
        raise UsageError(
            "exercises that grade programs need the emulated device",
            "Leave --device out, or use --device emulated.",
        )
    needs_reference = spec.expected is ExpectedFrom.REFERENCE
    if needs_reference and exercise.reference_source is None:
        raise GraderError(
            "the expected output is the reference's, and the reference is not here",
            "Grade with the course's own copy of the exercise.",
        )
    job.options.show(Progress("compiling"))
    isolated = job.options.isolated
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=isolated)
    job.note(tools.versions)
    builder = make_builder(tools, job.info.arch, cache=job.cache, isolated=isolated)
    with tempfile.TemporaryDirectory(prefix="grader-program-") as name:
        program = _build_submission(job, spec, builder, Path(name) / "submission")
        reference = None
        if needs_reference and exercise.reference_source is not None:
            texts = read_sources(exercise.reference_source, spec)
            reference = _build_own(job, builder, texts, Path(name) / "reference" / _REFERENCE)
        yield _Grading(job, spec, builder, program, reference)


def _build_submission(job: Job, spec: WholeProgram, builder: Builder, folder: Path) -> Path:
    submitted = {spec.submit[0]: job.submission.text, **dict(job.submission.others)}
    done = _build(job.exercise, builder, submitted, folder)
    if done is None:
        return folder / "build" / "program"
    raise SubmissionError(
        Failure(
            Status.COMPILE_ERROR,
            "nvcc does not compile the program.",
            done,
            advise_on_compilation(done),
        )
    )


def _build_own(job: Job, builder: Builder, texts: Mapping[str, str], folder: Path) -> Path:
    """Compiles a program of the exercise's author."""
    if problem := _build(job.exercise, builder, texts, folder):
        raise GraderError("a program of the exercise does not compile", problem)
    return folder / "build" / "program"


def _build(
    exercise: Exercise, builder: Builder, submitted: Mapping[str, str], folder: Path
) -> str | None:
    """nvcc's messages where it fails, else None."""
    spec = exercise.program
    assert spec is not None
    build = folder / "build"
    build.mkdir(parents=True)
    given = exercise.folder / FILES_FOLDER
    files = {name: (given / name).read_text(encoding="utf-8") for name in spec.supplied}
    limits = ToolLimits(exercise.limits.compile_seconds)
    done = builder.build({**files, **submitted}, spec.compiled, spec.options, build, limits)
    if done.returncode == 0 and done.limit is None:
        return None
    if done.limit == "time":
        return f"nvcc did not end within {exercise.limits.compile_seconds:g} s."
    return (done.stdout + done.stderr).replace(f"{build}/", "") or "nvcc failed without a message."


def read_sources(first: Path, spec: WholeProgram) -> dict[str, str]:
    """The texts of a program of the author: its first file, and the others beside it."""
    paths = {name: first.parent / name for name in spec.submit[1:]}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in {spec.submit[0]: first, **paths}.items()
    }


def _run_case(grading: _Grading, case: Case, run: RunSpec) -> ConfinedRun:
    """Runs a case in the checked mode, and adds its result to the evidence. Raises
    SubmissionError."""
    ran = _run(grading, grading.program, run, case.sizes, check=True)
    check_end(ran, case)
    expected = _expect(grading, run, case.sizes)
    grading.job.evidence.cases += (judge_run(ran, case, run, expected, grading.tolerance),)
    return ran


def _run(
    grading: _Grading,
    program: Path,
    run: RunSpec,
    sizes: Mapping[str, int],
    *,
    check: bool,
    order_seed: int = 0,
) -> ConfinedRun:
    job, given = grading.job, run.input_at(sizes)
    return run_confined(
        RunOrder(
            program,
            grading.builder.libraries,
            given.arguments,
            given.stdin,
            {name: text.encode() for name, text in (given.files or {}).items()},
            grading.spec.outputs,
            gpu=job.info.id,
            check=check,
            model=not check and not order_seed and job.options.model,
            wall_seconds=job.limits.wall_seconds,
            cpu_seconds=job.limits.processor_seconds,
            confined=job.options.isolated,
            order_seed=order_seed,
        )
    )


def _expect(grading: _Grading, run: RunSpec, sizes: Mapping[str, int]) -> Expected:
    """The expected results of a run."""
    given, spec = run.input_at(sizes), grading.spec
    if spec.expected is ExpectedFrom.SPEC:
        return Expected(run.stdout or "")
    if spec.expected is ExpectedFrom.ORACLE:
        stdout, files = ask_oracle(grading.job.exercise.folder, given, spec.outputs)
        return Expected(stdout, files)
    assert grading.reference is not None
    ran = _run(grading, grading.reference, run, sizes, check=False)
    if ran.limit or ran.found.failures or ran.found.exit_code != run.exit_code:
        raise GraderError("the reference does not run to its end", ran.found.stderr or "")
    files = {name: (text or b"").decode("utf-8", "replace") for name, text in ran.files.items()}
    return Expected(ran.found.stdout or "", files)


def _measure(grading: _Grading) -> None:
    """The measured run: its output must be right, too, in both orders of independent
    operations."""
    job, spec = grading.job, grading.spec
    evidence, case = job.evidence, Case(MEASURED, spec.measured_sizes, hidden=False)
    job.options.show(Progress("measuring"))
    ran = _run(grading, grading.program, spec.measured, case.sizes, check=False)
    check_end(ran, case)
    expected = _expect(grading, spec.measured, case.sizes)
    result = judge_run(ran, case, spec.measured, expected, grading.tolerance)
    if result.passed and (lacking := find_missing_work(ran.found, spec)):
        result = CaseResult(case.name, False, dict(case.sizes), False, lacking)
    if result.passed and ran.found.streams > 1:
        result = _repeat_in_other_order(grading, case, expected)
    evidence.cases += (result,)
    if not result.passed:
        return
    evidence.execution = launches_of(ran.found, job.submission)
    evidence.missing_reason = "the program launched no kernel"
    evidence.untimed = "it belongs to a plan of launches"
    mistakes = len(evidence.host_mistakes)
    evidence.measured = MeasuredProgram(host_mistakes=mistakes)
    if job.options.model:
        evidence.measured = MeasuredProgram(
            estimate_time(ran.found), _time_naive(grading), measure_overlap(ran.found), mistakes
        )


def _repeat_in_other_order(grading: _Grading, case: Case, expected: Expected) -> CaseResult:
    """The result of the measured run in an order drawn from the job's seed. The order of the first
    run is fixed, so a program without dependencies may have been written for it."""
    run = grading.spec.measured
    seed = draw_order_seed(grading.job.seed)
    ran = _run(grading, grading.program, run, case.sizes, check=False, order_seed=seed)
    check_end(ran, case)
    result = judge_run(ran, case, run, expected, grading.tolerance)
    if result.passed:
        return result
    message = f"the result depends on the order of operations in streams: {result.message}"
    return replace(result, message=message)


def _time_naive(grading: _Grading) -> Estimate | None:
    """The time of the starter's program in the measured run, where a check needs it."""
    job, spec = grading.job, grading.spec
    if not any(METRICS[check.metric].needs_naive for check in job.exercise.checks):
        return None
    sources = read_sources(job.exercise.baseline_source, spec)
    given = job.exercise.folder / FILES_FOLDER
    supplied = [(given / name).read_text(encoding="utf-8") for name in spec.supplied]
    parts = (*sources.values(), *supplied, repr(spec), job.info.id, grader_identity())
    key = f"naive-program-{cache_key(*parts)}"
    kept = recall(job.cache, key, Estimate)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix="grader-program-") as name:
        program = _build_own(job, grading.builder, sources, Path(name) / "starter")
        ran = _run(grading, program, spec.measured, spec.measured_sizes, check=False)
    time = estimate_time(ran.found)
    if time is None:
        raise GraderError("the starter's program has no modelled time", ran.found.stderr or "")
    remember(job.cache, key, time)
    return time


def _unite_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Each kind once per kernel and line, in the first case that has it."""
    known: dict[tuple[object, ...], Finding] = {}
    for each in findings:
        known.setdefault((each.kind, each.kernel, each.line), each)
    return tuple(known.values())
