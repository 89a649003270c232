"""The parts of a grading of a whole program that all devices share: compilation, runs, the expected
results, and the mistakes of all cases."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.cuda.confined import Builder, ConfinedRun, RunOrder, run_confined
from grader.errors import GraderError
from grader.grading.mistakes import SubmissionError
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
from grader.messages.programs import advise_on_compilation
from grader.records import CaseResult, Failure, Finding, Status, ToolLimits
from grader.spec.exercise import Case, Exercise, Tolerance
from grader.spec.oracle_module import ask_oracle
from grader.spec.whole_program import FILES_FOLDER, ExpectedFrom, RunSpec, WholeProgram

_REFERENCE = "reference"
_UNOPENED = re.compile(
    "Permission denied|No such file or directory|(?:Is|Not) a directory|Too many levels of symbolic"
    " links"
)
"""The reasons in nvcc's messages would show which files the machine has."""
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


def build_submission(job: Job, spec: WholeProgram, builder: Builder, folder: Path) -> Path:
    submitted = {spec.submit[0]: job.submission.text, **dict(job.submission.others)}
    done = _build(job.exercise, builder, submitted, folder)
    if done is None:
        return folder / "build" / "program"
    raise refuse_build(done)


def build_own(job: Job, builder: Builder, texts: Mapping[str, str], folder: Path) -> Path:
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
    texts = {**files, **submitted}
    seconds = exercise.limits.compile_seconds
    return build_program(builder, texts, spec.compiled, spec.options, build, seconds=seconds)


def build_program(
    builder: Builder,
    texts: Mapping[str, str],
    compiled: Sequence[str],
    options: Sequence[str],
    folder: Path,
    *,
    seconds: float,
) -> str | None:
    """Compiles the files `compiled` of these texts to `folder/program`: nvcc's messages where it
    fails, else None."""
    done = builder.build(texts, compiled, options, folder, ToolLimits(seconds))
    if done.returncode == 0 and done.limit is None:
        return None
    if done.limit == "time":
        return f"nvcc did not end within {seconds:g} s."
    messages = _UNOPENED.sub("it cannot be opened", done.stdout + done.stderr)
    return messages.replace(f"{folder}/", "") or "nvcc failed without a message."


def refuse_build(messages: str) -> SubmissionError:
    """The error of a submitted program that nvcc does not compile."""
    message, advice = "nvcc does not compile the program.", advise_on_compilation(messages)
    return SubmissionError(Failure(Status.COMPILE_ERROR, message, messages, advice))


def read_sources(first: Path, spec: WholeProgram) -> dict[str, str]:
    """The texts of a program of the author: its first file, and the others beside it."""
    paths = {spec.submit[0]: first} | {name: first.parent / name for name in spec.submit[1:]}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
