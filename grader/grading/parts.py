"""Runs the parts of an exercise: further tasks that the same file may solve. A failure ends only
its part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grader.errors import GraderError, SpecError
from grader.grading.building import Built, build_part
from grader.grading.cases import Bench, CaseRun, each_case, run_case, run_without_findings
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.session import Session
from grader.grading.stand_in import stand_in_bench
from grader.records import Binary, CaseResult, Failure, PartResult, Status, ToolLimits
from grader.spec.exercise import Case, Part
from grader.spec.oracle import load_oracle
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

RunCase = Callable[[Bench, Case], CaseRun]


def run_parts(session: Session, run: RunCase = run_case) -> None:
    """Runs every part of the exercise for which the file has kernels. Raises SpecError if a part is
    broken."""
    session.evidence.parts = tuple(
        _run_part(session, session.bench, part, run) for part in session.exercise.parts
    )


def check_parts(session: Session) -> None:
    """Runs the parts that a GPU found right in the checked mode of the emulated device too: a
    finding fails the part. Raises SpecError if a part is broken."""
    done = {result.part: result for result in session.evidence.parts}
    right = [part for part in session.exercise.parts if _is_right(done[part.name])]
    if not right:
        return
    try:
        with stand_in_bench(session, session.bench.built) as bench:
            for part in right:
                checked = _run_part(session, bench, part, run_without_findings)
                if not _is_right(checked):
                    done[part.name] = checked
    except (GraderError, SubmissionError) as error:
        failure = Failure(Status.GRADER_ERROR, str(error))
        done |= {part.name: replace(done[part.name], failure=failure) for part in right}
    session.evidence.parts = tuple(done.values())


def _is_right(result: PartResult) -> bool:
    return (
        result.absent is None
        and result.failure is None
        and all(case.passed for case in result.cases)
    )


def _run_part(session: Session, bench: Bench, part: Part, run: RunCase) -> PartResult:
    results: list[CaseResult] = []
    try:
        plan = _find_plan(session, part)
        if isinstance(plan, str):
            return PartResult(part.name, absent=plan)
        bench = _bench_of(session, bench, part, plan)
        for case in each_case(part, bench.seed, session.job.options.show, f"checking {part.name}"):
            result = run(bench, case).result
            results.append(replace(result, part=part.name))
    except SubmissionError as error:
        return PartResult(part.name, tuple(results), failure=error.failure)
    except SpecError:
        raise
    except GraderError as error:
        failure = Failure(Status.GRADER_ERROR, str(error), error.detail, error.advice)
        return PartResult(part.name, failure=failure)
    return PartResult(part.name, tuple(results))


def _find_plan(session: Session, part: Part) -> Plan | str:
    """The submission's plan for the part, else the part's default plan; a clause with the reason if
    the file lacks its kernels. Raises SubmissionError."""
    built, parts = session.bench.built, session.exercise.parts
    own = read_plan(built.source, part=part.name, parts=[each.name for each in parts])
    if own is not None:
        return value_of(own)
    missing = [
        launch.kernel.name
        for launch in part.default_plan.launches
        if not _defines(built.binary, launch.kernel.name)
    ]
    return f"the file has no kernel {missing[0]}" if missing else part.default_plan


def _defines(binary: Binary, kernel: str) -> bool:
    """Whether there is a kernel of this name, in any namespace and with any template arguments."""
    name = kernel.split("::")[-1]
    return any(each.name.partition("<")[0].split("::")[-1] == name for each in binary.kernels)


def _bench_of(session: Session, bench: Bench, part: Part, plan: Plan) -> Bench:
    limits = ToolLimits(wall_seconds=session.exercise.limits.compile_seconds)
    built: Built = build_part(
        bench.built, plan, part, session.tools, arch=bench.device.info.arch, limits=limits
    )
    oracle = load_oracle(session.exercise, part)
    return replace(bench, built=built, task=part, oracle=oracle)
