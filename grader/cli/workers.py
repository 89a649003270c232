"""The workers that grade a class: processes on this machine, with or without GPUs, or a cluster."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.cli.common import print_notice
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.batch.pool import Pool
    from grader.spec.exercise import Exercise

JOBS_OF_A_GPU = 6
"""An H100 was busy 79 % of the time with six jobs and 73 % with four (benchmarks/classroom.py); six
need 11 GB."""
MOST_SECONDS = 1800.0
"""Limit of a grading without --timeout: a slower worker hangs."""


@dataclass(frozen=True)
class Workers:
    """The device of the tasks, its name in the keys of results, and the start of the pool."""

    device: str
    device_name: str
    start: Callable[[], Pool]


def find_workers(
    options: argparse.Namespace, exercises: Sequence[Exercise], stack: contextlib.ExitStack
) -> Workers:
    """Processes on this machine, or a cluster that the stack closes."""
    from grader.batch.tasks import grade_task

    seconds = options.timeout or MOST_SECONDS
    if options.cluster is None:
        from grader.batch.pool import LocalPool

        devices, name = _find_devices(options.device)
        jobs = options.jobs or _default_jobs(devices)
        return Workers(
            options.device, name, lambda: LocalPool(grade_task, devices, jobs=jobs, seconds=seconds)
        )
    from grader.batch.cluster import ClusterPool, find_gpu_model, open_cluster, pack_exercise

    client = stack.enter_context(open_cluster(options.cluster))
    model = find_gpu_model(client) if options.device in ("auto", "gpu") else None
    if options.device == "gpu" and model is None:
        raise UsageError(
            "no worker of the cluster declares a GPU",
            "Start the workers that have a GPU with --resources GPU=1.",
        )
    if options.device.startswith("gpu:"):
        raise UsageError(
            f"--device {options.device} names a GPU of this machine",
            "On a cluster use --device gpu: a worker sees one GPU.",
        )
    device, name = ("gpu:0", f"gpu {model}") if model else _emulated(options.device)
    files = {exercise.id: pack_exercise(exercise) for exercise in exercises}
    return Workers(
        device,
        name,
        lambda: ClusterPool(
            client,
            grade_task,
            files,
            needs_gpu=model is not None,
            seconds=seconds,
            notice=print_notice,
        ),
    )


def _emulated(asked: str) -> tuple[str, str]:
    from grader.devices.choose import EMULATED, parse_device

    choice = parse_device(
        EMULATED if asked == "auto" else asked, gpu_works=lambda: False, has_pycuda=lambda: False
    )
    return str(choice), str(choice)


def _find_devices(asked: str) -> tuple[list[str], str]:
    """The devices of a name, and their name in the keys of results: a GPU's model."""
    from grader.devices.choose import EMULATED, count_gpus, gpu_works, has_pycuda, parse_device
    from grader.devices.remote.remote_device import RemoteDevice
    from grader.sandbox.process import run_tool

    kind, _, numbers = asked.partition(":")
    names = [asked]
    if kind == "gpu" and numbers == "all":
        names = [f"gpu:{number}" for number in range(count_gpus(run_tool, os.environ))]
    elif kind == "gpu" and "," in numbers:
        names = [f"gpu:{number}" for number in numbers.split(",")]
    choices = [
        parse_device(name, gpu_works=lambda: gpu_works(run_tool, os.environ), has_pycuda=has_pycuda)
        for name in names
    ]
    if choices[0].kind == EMULATED:
        return [str(choices[0])], str(choices[0])
    models = []
    for choice in choices:
        with RemoteDevice(str(choice)) as device:
            models.append(device.info.name)
    if len(set(models)) > 1:
        raise UsageError(
            f"these GPUs have different models: {', '.join(models)}",
            "Their times cannot be compared: use equal GPUs.",
        )
    return [str(choice) for choice in choices], f"gpu {models[0]}"


def _default_jobs(devices: Sequence[str]) -> int:
    """With GPUs: six jobs per GPU (five compile, emulate or judge while a job is timed), at two
    cores per job. Without: one job per core."""
    cores = len(os.sched_getaffinity(0))
    return (
        max(len(devices), min(cores // 2, JOBS_OF_A_GPU * len(devices)))
        if devices[0].startswith("gpu")
        else cores
    )
