"""The parts of a grading of a whole program that all devices share: the compiled programs, runs on
the emulated device, the expected results, and the mistakes of all cases."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.cuda.confined import Builder, ConfinedRun, RunOrder, run_confined
from grader.errors import GraderError
from grader.grading.program_builds import build_own, build_submission, read_sources
from grader.grading.program_results import (
    Expected,
    Mistakes,
    findings_of,
    judge_run,
    mistakes_of,
    unite,
)
from grader.grading.session import Job
from grader.judging.evidence import Checked
from grader.records import CaseResult, Finding
from grader.spec.exercise import Case, Tolerance
from grader.spec.oracle_module import ask_oracle
from grader.spec.whole_program import ExpectedFrom, RunSpec, WholeProgram

_REFERENCE = "reference"
RunProgram = Callable[[RunOrder], ConfinedRun]


@dataclass(frozen=True)
class Grading:
    """A grading of a compiled program. `program` and `reference` are executable files, `gpu` is an
    id of gpus.json, and `run` runs a program on the grading's device."""

    job: Job
    spec: WholeProgram
    builder: Builder
    program: Path
    reference: Path | None
    gpu: str
    run: RunProgram = run_confined

    @property
    def tolerance(self) -> Tolerance:
        tolerance = self.job.exercise.tolerance
        assert isinstance(tolerance, Tolerance)  # the schema of programs
        return tolerance

    def order(
        self, run: RunSpec, sizes: Mapping[str, int], *, check: bool = False, model: bool = False
    ) -> RunOrder:
        """The order for a run of the submission."""
        job, given = self.job, run.input_at(sizes)
        return RunOrder(
            self.program,
            self.builder.libraries,
            given.arguments,
            given.stdin,
            {name: text.encode() for name, text in (given.files or {}).items()},
            self.spec.outputs,
            gpu=self.gpu,
            check=check,
            model=model and job.options.model,
            wall_seconds=job.limits.wall_seconds,
            cpu_seconds=job.limits.processor_seconds,
            confined=job.options.isolated,
        )

    def judge(
        self, ran: ConfinedRun, case: Case, run: RunSpec, sizes: Mapping[str, int]
    ) -> CaseResult:
        """The result of a run that ended."""
        return judge_run(ran, case, run, _expect(self, run, sizes), self.tolerance)


@contextmanager
def open_grading(
    job: Job, builder: Builder, gpu: str, run: RunProgram = run_confined
) -> Iterator[Grading]:
    """Compiles the submission, and the reference where the expected results are its own."""
    exercise, spec = job.exercise, job.exercise.program
    assert spec is not None
    needs_reference = spec.expected is ExpectedFrom.REFERENCE
    if needs_reference and exercise.reference_source is None:
        raise GraderError(
            "the expected output is the reference's, and the reference is not here",
            "Grade with the course's own copy of the exercise.",
        )
    with tempfile.TemporaryDirectory(prefix="grader-program-") as name:
        program = build_submission(job, spec, builder, Path(name) / "submission")
        reference = None
        if needs_reference and exercise.reference_source is not None:
            texts = read_sources(exercise.reference_source, spec)
            reference = build_own(job, builder, texts, Path(name) / "reference" / _REFERENCE)
        yield Grading(job, spec, builder, program, reference, gpu, run)


def _expect(grading: Grading, run: RunSpec, sizes: Mapping[str, int]) -> Expected:
    """The expected results of a run."""
    given, spec = run.input_at(sizes), grading.spec
    if spec.expected is ExpectedFrom.SPEC:
        return Expected(run.stdout or "")
    if spec.expected is ExpectedFrom.ORACLE:
        stdout, files = ask_oracle(grading.job.exercise.folder, given, spec.outputs)
        return Expected(stdout, files)
    assert grading.reference is not None
    order = grading.order(run, sizes)
    ran = grading.run(replace(order, program=grading.reference))
    if ran.limit or ran.found.failures or ran.found.exit_code != run.exit_code:
        raise GraderError("the reference does not run to its end", ran.found.stderr or "")
    texts = {name: (text or b"").decode("utf-8", "replace") for name, text in ran.files.items()}
    return Expected(ran.found.stdout or "", texts)


@dataclass
class FoundMistakes:
    """The findings in kernels and the mistakes in host code of all cases; `clean` cases have no
    finding."""

    own_file: str
    clean: int = 0
    findings: list[Finding] = field(default_factory=list)
    mistakes: list[Mistakes] = field(default_factory=list)

    def add(self, case: Case, *runs: ConfinedRun) -> None:
        """Adds all checked runs of a case."""
        found = [each for ran in runs for each in findings_of(ran, case, self.own_file)]
        self.clean += not found
        self.findings += found
        self.mistakes += [mistakes_of(ran, case) for ran in runs]

    def checked(self, cases: int) -> Checked:
        """Each kind of finding once per kernel and line, in the first case that has it."""
        known: dict[tuple[object, ...], Finding] = {}
        for each in self.findings:
            known.setdefault((each.kind, each.kernel, each.line), each)
        return Checked(self.clean / cases, tuple(known.values()))

    def united(self) -> Mistakes:
        """The mistakes of all cases, each kind once per place."""
        return unite(self.mistakes)
