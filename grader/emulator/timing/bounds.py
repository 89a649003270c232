"""The resources that limit a launch, and advice for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """The used fraction of a resource, 0 to 1, and advice for launches that it limits."""

    resource: str
    used: float
    advice: str


_ADVICE = {
    "dram": (
        "DRAM bandwidth",
        (
            "Move fewer bytes between DRAM and the chip: use every byte that is loaded, and load it"
            " once."
        ),
    ),
    "l2": (
        "L2 bandwidth",
        "Request less from the L2: keep data that a block reuses in shared memory or registers.",
    ),
    "store_cycles": (
        "L2 stores",
        (
            "Fill whole 32-byte sectors with each store; combine the atomics of many threads in"
            " shared memory or registers first."
        ),
    ),
    "lsu": (
        "load/store unit",
        (
            "Take fewer wavefronts: avoid bank conflicts, keep reused data in registers, read along"
            " rows."
        ),
    ),
    "issue": (
        "instruction issue",
        (
            "Execute fewer instructions: unroll, take index arithmetic out of loops, do more with"
            " each load."
        ),
    ),
    "fma": (
        "float arithmetic",
        "The float pipe is busy: only less arithmetic, or tensor cores, would be faster.",
    ),
    "alu": (
        "integer arithmetic",
        "Take index arithmetic out of the loop, or let each thread do more with it.",
    ),
    "latency": (
        "latency",
        (
            "Warps wait: let each thread have several independent loads in flight, or let more"
            " warps be resident."
        ),
    ),
}
RESOURCES: Mapping[str, str] = dict(_ADVICE.values())
"""The advice by the name of the resource."""
LATENCY_BOUND = 0.75
"""If no resource is used more than this, warps wait for latencies most of the time."""


def find_bounds(use: Mapping[str, float]) -> tuple[Use, ...]:
    """The three most used resources; latency comes first if all of them are below LATENCY_BOUND."""
    parts = {
        "issue" if name == "issued" else name: part
        for name, part in use.items()
        if name in ("issued", *_ADVICE)
    }
    ordered = sorted(parts, key=lambda name: -parts[name])
    if parts[ordered[0]] < LATENCY_BOUND:
        parts["latency"] = 1.0 - parts[ordered[0]]
        ordered.insert(0, "latency")
    return tuple(Use(_ADVICE[name][0], parts[name], _ADVICE[name][1]) for name in ordered[:3])
