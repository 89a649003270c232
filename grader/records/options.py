"""How to grade a submission or run kernels: the options of the command line and of the calls."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.records.requests import PLAIN, Detail, RunLimits
from grader.records.scores import ShowChecks
from grader.records.tooling import Progress, ShowProgress


@dataclass(frozen=True)
class GivenPeak:
    """The value of `--peak`: a GPU's peak bandwidth in GB/s and fp32 rate in TFLOP/s; None: the
    option does not give it."""

    bandwidth_gbps: float | None = None
    fp32_tflops: float | None = None


@dataclass(frozen=True)
class DeviceChoice:
    """A device: its kind, its id in gpus.json or the GPU's number, and the peaks that `--peak`
    gives."""

    kind: str
    id: str
    peak: GivenPeak | None = None

    def __str__(self) -> str:
        """The name that a worker takes: `emulated:h100`, `gpu:0`, `gpu:0:3352,66.9`."""
        peak = self.peak
        set_figures = (peak.bandwidth_gbps, peak.fp32_tflops) if peak is not None else ()
        figures = ",".join(str(figure) for figure in set_figures if figure is not None)
        return ":".join([self.kind, self.id, *([figures] if figures else [])])


def show_nothing(_: Progress) -> None:
    """A `ShowProgress` without output."""


@dataclass(frozen=True)
class Options:
    """How to grade or run, from the command line or the call to the place of use.

    device: `auto`, `emulated`, `emulated:ID`, `gpu`, `gpu:N`, or the device that this stands for.
    seed: Draws hidden cases and inputs; None: a new secret seed for each grading.
    isolated: The compiler and the emulated device see only the files that they need.
    model: The emulated device models times; without, checks of times are excluded.
    cache: The folder of compiled submissions; None: the user's cache folder.
    detail: The parts of the score's `machine` to fill.
    reuse: With a seed, an equal grading on the emulated device takes its score from the cache.
    limits: Replace the exercise's limits, for the submission alone.
    until_wrong: The first wrong case ends the cases.
    show: Receives the progress.
    interim: Receives the checks before the grading ends.
    """

    device: str | DeviceChoice = "auto"
    seed: int | None = None
    isolated: bool = True
    model: bool = True
    cache: Path | None = None
    detail: Detail = PLAIN
    reuse: bool = False
    limits: RunLimits | None = None
    until_wrong: bool = False
    show: ShowProgress = show_nothing
    interim: ShowChecks | None = None

    @property
    def fixed_seed(self) -> int:
        """The seed, for a command that always sets it."""
        assert self.seed is not None
        return self.seed
