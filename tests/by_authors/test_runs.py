"""Kernels in the style of public courses run as they are written: right on the emulated device, in
the checked mode without a finding, and on a GPU."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

import grader
from grader.devices.gpus import read_gpus
from tests.by_authors.runs import arrays, graphs, matrices, models, pictures
from tests.by_authors.runs.cases import Case, Make

FOLDER = Path(__file__).parent / "runs"
GROUPS = (arrays, graphs, matrices, models, pictures)
CASES: dict[str, Make] = {make.__name__: make for group in GROUPS for make in group.CASES}
COUNTED = (
    "instructions_executed",
    "shared_wavefronts",
    "global_load_sectors",
    "global_store_sectors",
)


def run_case(name: str, device: str, *, check: bool = False) -> tuple[grader.KernelRun, Case]:
    case = CASES[name](np.random.default_rng(zlib.crc32(name.encode())))
    run = grader.run(
        FOLDER / f"{name}.cu",
        inputs=case.inputs,
        outputs=case.outputs,
        sizes=case.sizes,
        scalars=case.scalars,
        device=device,
        check=check,
    )
    return run, case


def assert_right(run: grader.KernelRun, case: Case) -> None:
    for name, right in case.expected.items():
        got = run.outputs[name]
        assert (got.dtype, got.shape) == (right.dtype, right.shape)
        np.testing.assert_allclose(got, right, rtol=case.rtol, atol=case.atol)


def test_every_kernel_has_a_case() -> None:
    assert {path.stem for path in FOLDER.glob("*.cu")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_is_right_and_sound(name: str) -> None:
    run, case = run_case(name, "emulated:h100", check=True)
    assert run.findings == ()
    assert_right(run, case)


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_is_right_on_a_gpu(name: str) -> None:
    """The GPU's outputs are right; where Nsight Compute counted, it counted what is counted
    here."""
    run, case = run_case(name, "gpu")
    assert_right(run, case)
    if case.contended or not any("those of Nsight Compute" in note for note in run.notes):
        return
    same = (each.id for each in read_gpus().values() if run.device.startswith(f"{each.name} ("))
    emulated, _ = run_case(name, f"emulated:{next(same, 'h100')}")
    for seen, counted in zip(emulated.launches, run.launches, strict=True):
        assert [getattr(seen.counters, each) for each in COUNTED] == [
            getattr(counted.counters, each) for each in COUNTED
        ], seen.kernel
