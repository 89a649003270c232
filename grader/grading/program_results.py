"""The results of a graded program's runs: the judgement of a run's output, the launches of its
kernels as the metrics read them, and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.cuda.confined import ConfinedRun
from grader.grading.mistakes import SubmissionError
from grader.judging.overlaps import measure_work
from grader.judging.texts import find_difference
from grader.messages.hidden import name_case
from grader.messages.host_findings import is_own
from grader.records import (
    CaseResult,
    Dim3,
    Execution,
    Failure,
    Finding,
    LaunchResult,
    Status,
    Submission,
)
from grader.records.program_run import ProgramKernel, ProgramRun
from grader.records.programs import HostMistake, HostPlace
from grader.spec.exercise import Case, Tolerance
from grader.spec.whole_program import RunSpec, WholeProgram

Mistakes = tuple[HostMistake, ...]
_STOPPED: Mapping[str, tuple[Status, str, str]] = {
    "time": (
        Status.TIMEOUT,
        "The program did not end in time",
        "Look for an endless loop, or a wait for something that never happens.",
    ),
    "processor time": (
        Status.TIMEOUT,
        "The program used all of its processor time",
        "Look for an endless loop in host code.",
    ),
    "output": (
        Status.RUNTIME_ERROR,
        "The program wrote too much output",
        "Print only the results that the task asks for.",
    ),
    "memory": (
        Status.RUNTIME_ERROR,
        "The program used too much memory",
        "Free memory that is no longer needed, and compare the allocations with the sizes.",
    ),
    "threads": (
        Status.RUNTIME_ERROR,
        "The program started too many threads",
        "Use few host threads.",
    ),
    "files": (
        Status.RUNTIME_ERROR,
        "The program wrote too many files, or too large files",
        "Write only the files that the task asks for.",
    ),
}
"""Ends by a limit: status, message, advice."""


@dataclass(frozen=True)
class Expected:
    """The expected output of a run, and the expected texts of its files."""

    stdout: str
    files: Mapping[str, str] = field(default_factory=dict)


def check_end(ran: ConfinedRun, case: Case) -> None:
    """Raises SubmissionError where a limit or an error of a kernel ended the run."""
    failure = find_end(ran)
    if failure is not None:
        raise SubmissionError(name_case(failure, case))


def find_end(ran: ConfinedRun) -> Failure | None:
    """The failure of a run that a limit or an error of a kernel ended."""
    if ran.limit is not None:
        status, message, advice = _STOPPED[ran.limit]
        return Failure(status, f"{message}.", advice=advice)
    if ran.found.failures:
        return ran.found.failures[0]
    if ran.found.notes:
        return Failure(Status.RUNTIME_ERROR, ran.found.notes[0])
    return None


def judge_run(
    ran: ConfinedRun, case: Case, run: RunSpec, expected: Expected, tolerance: Tolerance
) -> CaseResult:
    """The result of a run that ended."""
    mistake = next(_find_mistakes(ran, run, expected, tolerance, hidden=case.hidden), "")
    sizes = dict(case.sizes)
    return CaseResult(case.name, case.hidden, sizes, not mistake, mistake or "right")


def _find_mistakes(
    ran: ConfinedRun, run: RunSpec, expected: Expected, tolerance: Tolerance, *, hidden: bool
) -> Iterator[str]:
    found = ran.found
    if found.exit_code != run.exit_code:
        yield _describe_exit(found, run.exit_code, hidden=hidden)
    output = found.stdout or ""
    if text := find_difference(
        output, expected.stdout, tolerance, where="the output", hidden=hidden
    ):
        yield text
    for name, want in expected.files.items():
        content = ran.files.get(name)
        if content is None:
            yield f"the program did not write the file {name}"
            continue
        have = content.decode("utf-8", "replace")
        if text := find_difference(have, want, tolerance, where=name, hidden=hidden):
            yield text


def _describe_exit(found: ProgramRun, wanted: int, *, hidden: bool) -> str:
    """With the last line that the program wrote to stderr."""
    code = found.exit_code
    how = f"signal {code - 128} ended the program" if code > 128 else f"the exit code is {code}"
    message = how if code > 128 else f"{how}, and not {wanted}"
    words = (found.stderr or "").strip().splitlines()
    return message if hidden or not words else f"{message}; its last message is: {words[-1][:200]}"


def find_missing_work(run: ProgramRun, program: WholeProgram) -> str:
    """The work of the measured run that the program did not do on the device; empty where it did
    all."""
    done, sizes = vars(measure_work(run)), program.measured_sizes
    for name, formula in vars(program.least).items():
        if formula is not None and done[name] < (least := formula.evaluate(sizes)):
            return _LACKING[name].format(done=done[name], least=least)
    return ""


_LACKING = {
    "to_device_bytes": "it copies {done:,} bytes to the device, and the task needs {least:,}",
    "to_host_bytes": "it copies {done:,} bytes to the host, and the task needs {least:,}",
    "threads": "it launches {done:,} threads, and the task needs {least:,}",
}


def launches_of(run: ProgramRun, submission: Submission) -> Execution:
    """The launches of all kernels. Lines of other files than the submission are left out."""
    return Execution(tuple(_launch_of(kernel, submission) for kernel in run.kernels))


def _launch_of(kernel: ProgramKernel, submission: Submission) -> LaunchResult:
    # the counters are sums: as many blocks as all launches had
    grid = Dim3(kernel.grid.x * kernel.launches, kernel.grid.y, kernel.grid.z)
    return LaunchResult(
        kernel.kernel,
        grid,
        kernel.block,
        kernel.registers,
        kernel.static_shared_bytes,
        kernel.dynamic_shared_bytes,
        kernel.local_bytes,
        kernel.occupancy,
        kernel.counters,
        kernel.lines if _is_own(kernel.source, submission) else (),
        modelled=kernel.modelled,
        unmodelled=kernel.unmodelled,
        waited=kernel.waited,
    )


def _is_own(source: str, submission: Submission) -> bool:
    return Path(source).name == Path(submission.name).name


def findings_of(ran: ConfinedRun, case: Case, own: str) -> tuple[Finding, ...]:
    """The findings of a run; of a hidden run only kind, kernel and line. `own`: the name of the
    submission's file in the build."""
    others = {k.kernel for k in ran.found.kernels if Path(k.source).name != own}
    return tuple(_show_finding(each, case, others) for each in ran.found.findings)


def _show_finding(finding: Finding, case: Case, others: set[str]) -> Finding:
    """A finding without lines of supplied files."""
    if finding.kernel in others:
        finding = replace(finding, line=None, other_line=None)
    if not case.hidden:
        return replace(finding, case=case.name)
    place = "" if finding.line is None else f"line {finding.line}: "
    kind = finding.kind.value.replace("_", " ")
    message = f"{place}{kind} in the kernel {finding.kernel}."
    return Finding(finding.kind, message, finding.kernel, finding.line, case=case.name)


def mistakes_of(ran: ConfinedRun, case: Case) -> Mistakes:
    """The mistakes in host code, with the names of the program's own files; of a hidden run only
    kind and place."""
    return tuple(_show_mistake(each, case) for each in ran.found.host_findings)


def _show_mistake(mistake: HostMistake, case: Case) -> HostMistake:
    place = mistake.place and _name_file(mistake.place)
    if case.hidden:
        kind = mistake.kind.replace("_", " ")
        return replace(mistake, message=kind, place=place, stack=(), count=1)
    stack = tuple(_name_file(each) for each in mistake.stack if is_own(each))
    return replace(mistake, place=place, stack=stack)


def _name_file(place: HostPlace) -> HostPlace:
    """The place without the path of the build's folder."""
    return replace(place, file=Path(place.file).name)


def unite(found: Sequence[Mistakes]) -> Mistakes:
    """The mistakes of all runs, each kind once per place."""
    known: dict[tuple[object, ...], HostMistake] = {}
    for each in (mistake for mistakes in found for mistake in mistakes):
        known.setdefault((each.kind, each.place and (each.place.file, each.place.line)), each)
    return tuple(known.values())
