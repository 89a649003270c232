"""The GPU of this machine that `--device gpu:N` names."""

from __future__ import annotations

from dataclasses import dataclass

from grader.devices.gpus import Gpu
from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.stand_in import stand_in
from grader.records import DeviceChoice, DeviceInfo


@dataclass(frozen=True)
class RealGpu:
    """A GPU: its description, its UUID, and the row of gpus.json for it or for a similar GPU."""

    info: DeviceInfo
    uuid: str
    figures: Gpu

    @property
    def arch(self) -> str:
        return self.info.arch


def find_real_gpu(choice: DeviceChoice) -> RealGpu:
    """The GPU; a worker with PyCUDA describes it and ends."""
    with RemoteDevice(str(choice)) as device:
        return RealGpu(device.info, device.uuid or "", stand_in(device.info))
