"""All launches of a kernel with the same sizes, and their modelled times."""

from __future__ import annotations

from dataclasses import dataclass, field

from grader.cuda.modules import Module, Ready, Triple
from grader.cuda.window import DeviceView
from grader.devices.emulated.plan_run import LaunchRun
from grader.devices.emulated.sampling import Timed
from grader.emulator import LaunchCounts, LaunchSettings, RepeatedLaunch, Tally
from grader.records import Launch

MOST_MODELS, OTHER_WORK = 8, 0.1
"""A launch whose instructions differ from all modelled launches by more than this part is modelled
too, up to this number for each size."""


@dataclass(frozen=True)
class Request:
    """A launch as the program requests it: the kernel's number in its module, and `parameters` as
    bytes from the first parameter on. `number`: in the order of the calls. `watched`: its accesses
    to memory are needed."""

    module: Module
    index: int
    stream: int
    site: int
    grid: Triple
    block: Triple
    cluster: Triple
    dynamic_shared: int
    cooperative: bool
    parameters: bytes
    number: int = 0
    watched: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for launches of the same sizes."""
        sizes = (self.grid, self.block, self.cluster, self.dynamic_shared, self.cooperative)
        return self.module.number, self.index, *sizes


@dataclass
class Model:
    """The modelled time of a launch with this number of warp instructions. It is computed on first
    use, from the traces of the launch."""

    instructions: int
    timed: Timed | None
    ran: LaunchRun | None = None

    def result(self) -> LaunchRun | None:
        """The launch with its time."""
        if self.timed is not None:
            self.ran, self.timed = self.timed.model(), None
        return self.ran

    @property
    def ms(self) -> float | None:
        """None where the launch has no modelled time."""
        ran = self.result()
        return None if ran is None or ran.modelled is None else ran.modelled.time_ms


@dataclass
class Group:
    """All launches of a kernel with the same sizes. `settings` are theirs, without parameters;
    `view` is the memory of the last launch. `counts` belong to launches that were not
    `repeated`. `last` is the number of warp instructions of the last launch."""

    ready: Ready
    launch: Launch
    settings: LaunchSettings
    view: DeviceView
    counts: list[LaunchCounts] = field(default_factory=list)
    reads_clock: bool = False
    repeated: RepeatedLaunch | None = None
    before: Tally | None = None
    models: list[Model] = field(default_factory=list)
    launches: int = 0
    instructions: int = 0
    last: int = 0
    waited: bool = False

    @property
    def share(self) -> float:
        """The part of the GPU that its blocks fill, 0 to 1."""
        return min(1.0, self.settings.blocks / max(1, self.settings.resident or 1))

    def ms(self, instructions: int) -> float | None:
        """The modelled time of the most similar launch, scaled by instructions."""
        model = self._nearest(instructions)
        if model is None or model.ms is None:
            return None
        return model.ms * instructions / max(1, model.instructions)

    def wants_model(self) -> bool:
        """Whether a launch with the work of the last would be unlike all modelled launches."""
        model = self._nearest(self.last)
        if model is None:
            return True
        differs = abs(model.instructions - self.last) > OTHER_WORK * model.instructions
        return differs and len(self.models) < MOST_MODELS

    def _nearest(self, instructions: int) -> Model | None:
        return min(
            self.models, key=lambda each: abs(each.instructions - instructions), default=None
        )
