"""The kernels of benchmarks/kernels, which were timed on a GPU: the run lines of their files, and
programs made from them.

    benchmarks/kernels/FAMILY/NAME.cu
    // run: --size n=1048576 --input x=normal:n --output y=float32:n     options of `grade run`
    // launch: copy<<<ceil_div(n, 256), 256>>>(y, x, n)

Each `// run:` line is a measured time. A family is the mechanism that its kernels show: the timing
model is validated on families outside of its fit.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from grader.cli.kernels import RUN
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
from grader.grading.building import Built, build_plan, launch_on
from grader.grading.mistakes import value_of
from grader.grading.tools import Toolchain
from grader.records import SUBMISSION, LaunchLimits, Program, Submission
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

AUTHORS = Path(__file__).resolve().parents[1] / "tests" / "by_authors" / "runs"
"""Kernels in the style of public courses, as the family `runs`."""
KERNELS = Path(__file__).resolve().parent / "kernels"
_RUN = re.compile(r"^//\s*run:\s*(?P<options>.*?)\s*$")
_PLAN = re.compile(r"^//\s*(?:launch|scratch):.*$", re.MULTILINE)
_NAMED = ("size", "input", "output", "scalar", "tensor_map")
"""The options of `grade run` that a run line may contain."""

Draw = Callable[[str, str, Mapping[str, int]], np.ndarray | Output]
"""Arguments: `input` or `output`, the word of that option and the sizes. Returns the array or
output that the word describes."""


@dataclass(frozen=True)
class KernelRun:
    """A run of a file. `text`: its options, as in line `line`."""

    family: str
    path: Path
    line: int
    text: str
    options: argparse.Namespace

    @property
    def name(self) -> str:
        return f"{self.family}/{self.path.stem}"

    @property
    def sizes(self) -> dict[str, int]:
        return parse_sizes(self.options.size)

    @property
    def names(self) -> frozenset[str]:
        """Names that launch lines may use."""
        words = (getattr(self.options, option) for option in _NAMED)
        return frozenset(name for each in words for name in split_names("", each))

    def read_data(self, draw: Draw) -> KernelData:
        """The data of the run. Raises UsageError, with the line."""
        sizes = self.sizes
        try:
            return read_data(
                {_name(word): draw("input", word, sizes) for word in self.options.input},
                {_name(word): draw("output", word, sizes) for word in self.options.output},
                sizes,
                parse_scalars(self.options.scalar),
                parse_maps(self.options.tensor_map, sizes),
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
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    matches = [(number, match["options"]) for number, line in lines if (match := _RUN.match(line))]
    if not matches:
        raise UsageError(
            f"{path}: there is no run line", "Write one: // run: --size n=1024 --output y=float32:n"
        )
    runs = [_read_run(path, number, text) for number, text in matches]
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


def _read_run(path: Path, line: int, text: str) -> KernelRun:
    try:
        options = _parse(path, shlex.split(text))
        run = KernelRun(path.parent.name, path, line, text, options)
        for option in _NAMED:
            split_names(f"--{option}", getattr(options, option))
        parse_sizes(options.size)
    except (UsageError, ValueError) as error:
        raise _at(path, line, error) from error
    return run


def _parse(path: Path, words: Sequence[str]) -> argparse.Namespace:
    """Parses options like `grade run`. Raises UsageError."""
    parser = RUN.make_parser()

    def fail(message: str) -> None:
        raise UsageError(message, "Write options as for `grade run`.")

    parser.error = fail  # type: ignore[method-assign, assignment]
    options = parser.parse_args([str(path), *words])
    plain = vars(_plain_options())
    for name, value in vars(options).items():
        if name not in (*_NAMED, "file") and value != plain[name]:
            raise UsageError(
                f"--{name} does not describe a run",
                f"Use only --{', --'.join(_NAMED).replace('_', '-')}.",
            )
    return options


@cache
def _plain_options() -> argparse.Namespace:
    return RUN.make_parser().parse_args(["kernels.cu"])


def _name(word: str) -> str:
    return word.partition("=")[0]


def _at(path: Path, line: int, error: UsageError | ValueError) -> UsageError:
    advice = error.advice if isinstance(error, UsageError) else "See `grade run --help`."
    return UsageError(f"{path}:{line}: {error}", advice)
