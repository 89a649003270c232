"""The kernels of benchmarks/kernels, which were timed on a GPU: the run lines of their files, and
programs made from them.

    benchmarks/kernels/FAMILY/NAME.cu
    // run: --size n=1048576 --input x=normal:n --output y=float32:n
    // launch: copy<<<ceil_div(n, 256), 256>>>(y, x, n)

Each `// run:` line is a measured time. A family is the mechanism that its kernels show: the timing
model is validated on families outside of its fit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.cpp.lexer import read_code
from grader.errors import UsageError
from grader.explore.kernel_data import KernelData, Output, read_data
from grader.explore.kernel_job import COMPILE_LIMITS
from grader.explore.kernel_words import (
    parse_maps,
    parse_scalars,
    parse_sizes,
    read_inputs,
    read_outputs,
    split_names,
)
from grader.explore.run_request import DATA, RunLine, RunRequest, find_run_lines, parse_run_line
from grader.grading.building import Built, build_plan, launch_on
from grader.grading.mistakes import value_of
from grader.grading.tools import Toolchain
from grader.records import SUBMISSION, LaunchLimits, Program, Submission
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

AUTHORS = Path(__file__).resolve().parents[1] / "tests" / "by_authors" / "runs"
"""Kernels in the style of public courses, as the family `runs`."""
KERNELS = Path(__file__).resolve().parent / "kernels"
_PLAN = re.compile(r"^//\s*(?:launch|scratch):.*$", re.MULTILINE)

Draw = Callable[[str, str, Mapping[str, int]], np.ndarray | Output]
"""Arguments: `input` or `output`, the word of that option and the sizes. Returns the array or
output that the word describes."""


@dataclass(frozen=True)
class KernelRun:
    """A run of a file. `text`: its words, as in line `line`."""

    family: str
    path: Path
    line: int
    text: str
    request: RunRequest

    @property
    def name(self) -> str:
        return f"{self.family}/{self.path.stem}"

    @property
    def sizes(self) -> dict[str, int]:
        return parse_sizes(self.request.of("size"))

    @property
    def names(self) -> frozenset[str]:
        """Names that launch lines may use."""
        return frozenset(name for each in DATA for name in split_names("", self.request.of(each)))

    def read_data(self, draw: Draw) -> KernelData:
        """The data of the run. Raises UsageError, with the line."""
        sizes, request = self.sizes, self.request
        try:
            return read_data(
                {_name(word): draw("input", word, sizes) for word in request.of("input")},
                {_name(word): draw("output", word, sizes) for word in request.of("output")},
                sizes,
                parse_scalars(request.of("scalar")),
                parse_maps(request.of("tensor-map"), sizes),
            )
        except UsageError as error:
            raise _at(self.path, self.line, error) from error


def read_runs(folder: Path = KERNELS) -> list[KernelRun]:
    """The runs of all files of a folder of families, in order of their names. For
    benchmarks/kernels, also those of the authors' kernels with run lines. Raises UsageError, with
    file and line."""
    files = sorted(folder.glob("*/*.cu"))
    if folder == KERNELS:
        files += [path for path in sorted(AUTHORS.glob("*.cu")) if "// run:" in path.read_text()]
    return [run for path in files for run in read_file(path)]


def read_file(path: Path) -> list[KernelRun]:
    """The runs of a file; the name of its folder is its family. Raises UsageError."""
    runs = [_read_run(path, line) for line in find_run_lines(path.read_text(encoding="utf-8"))]
    if not runs:
        raise UsageError(
            f"{path}: there is no run line", "Write one: // run: --size n=1024 --output y=float32:n"
        )
    texts = [run.text for run in runs]
    for run in runs:
        if texts.count(run.text) > 1:
            raise UsageError(f"{path}:{run.line}: this run is there twice", "Remove one of them.")
    return runs


def describe_source(path: Path) -> str:
    """A digest that changes with the kernels and launch lines of a file, but not with other
    comments."""
    text = path.read_text(encoding="utf-8")
    code = " ".join(token.text for token in read_code(text))
    return hashlib.sha256("\n".join([code, *_PLAN.findall(text)]).encode()).hexdigest()[:16]


def compile_file(path: Path, names: frozenset[str], tools: Toolchain, arch: str) -> Built:
    """Builds the kernels of a file, whose launch lines may use the `names`. Raises SubmissionError,
    and UsageError for a file without launch lines."""
    source = read_submission(path)
    assert isinstance(source, Submission), f"{path} cannot be read"
    plan = value_of(read_plan(source))
    if plan is None:
        raise UsageError(f"{path}: there is no launch line", "Write one: // launch: k<<<1, 32>>>()")
    return build_plan(source, plan, names, tools, arch=arch, limits=COMPILE_LIMITS)


def make_kernel_program(built: Built, data: KernelData, limits: LaunchLimits) -> Program:
    """The launches of a built file on the data of a run. Raises SubmissionError."""
    return launch_on(
        SUBMISSION,
        built,
        data.buffers,
        sizes=data.sizes,
        limits=limits,
        scalars=data.scalars,
    )


def draw_word(option: str, word: str, sizes: Mapping[str, int]) -> np.ndarray | Output:
    """The array or output that a word of `--input` or `--output` describes."""
    read = read_inputs if option == "input" else read_outputs
    (found,) = read([word], sizes, seed=0).values()
    return found


def _read_run(path: Path, line: RunLine) -> KernelRun:
    try:
        request = parse_run_line(line.text)
        for mode in request.modes:
            raise UsageError(f"--{mode} does not describe a run", "Remove it.")
        for option in DATA:
            split_names(f"--{option}", request.of(option))
        parse_sizes(request.of("size"))
    except UsageError as error:
        raise _at(path, line.number, error) from error
    return KernelRun(path.parent.name, path, line.number, line.text, request)


def _name(word: str) -> str:
    return word.partition("=")[0]


def _at(path: Path, line: int, error: UsageError) -> UsageError:
    return UsageError(f"{path}:{line}: {error}", error.advice)
