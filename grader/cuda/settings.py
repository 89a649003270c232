"""The settings of a run of a program on the emulated device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The GPU's id in gpus.json, the number of devices, the modes of launches, the folder for the
    records of sessions (None: no records), and the number of host threads (0: one for each
    processor). `model`: the clock is modelled, else it is the wall clock. `order_seed`: 0:
    operations that nothing orders are executed in the worst order for a program that lacks a
    dependency; else in an order drawn from this seed."""

    gpu: str = "h100"
    devices: int = 1
    check: bool = False
    model: bool = True
    folder: Path | None = None
    threads: int = 0
    order_seed: int = 0


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings of a server that the driver library starts itself. Raises ValueError."""
    folder = environ.get("GRADER_CUDA_RECORDS")
    return Settings(
        environ.get("GRADER_CUDA_DEVICE", Settings.gpu).removeprefix("emulated:"),
        int(environ.get("GRADER_CUDA_DEVICES", "1")),
        environ.get("GRADER_CUDA_CHECK", "") not in ("", "0"),
        environ.get("GRADER_CUDA_MODEL", "1") != "0",
        Path(folder) if folder else None,
    )
