"""The trace of the simulated SM: its structure, that its slices tile what they tell, and where it
ends."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.judging.machine_work import combine_machine_work
from grader.records import Detail, MachineWork, ModelledMode
from grader.report import trace as module
from grader.report.trace import Trace, format_trace, write_trace
from tests.support.truth import LIMITS, Recorded, make_plan

SIZES = {"rows": 64, "cols": 96}
TEXTS = {line: f"line {line}" for line in range(1, 100)}
Event = dict[str, Any]


@pytest.fixture(scope="module")
def work() -> MachineWork:
    device = EmulatedDevice("h100")
    program, arrays = make_plan(Recorded("transpose_padded", SIZES, "", None), device.info)
    detail = Detail(cycles=True, spans=10_000)
    execution, _ = device.run(program, arrays, limits=LIMITS, mode=ModelledMode(1, detail=detail))
    ran = program, execution
    return combine_machine_work(ran, SIZES, ran, SIZES)


def slices(trace: Trace, kind: str) -> list[Event]:
    return [each for each in json.loads(trace.text)["traceEvents"] if each.get("cat") == kind]


def test_it_is_in_the_trace_event_format(work: MachineWork) -> None:
    plain = json.loads(format_trace(work, TEXTS).text)
    assert plain["otherData"]["unit"] == "1 us in this trace is 1 cycle of the simulated SM"
    for event in plain["traceEvents"]:
        assert {type(event["pid"]), type(event["tid"])} == {int}
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert event["args"]["name"]
        else:
            assert event["ph"] == "X"
            assert event["ts"] >= 0
            assert event["dur"] > 0


def test_every_track_has_a_name(work: MachineWork) -> None:
    events = json.loads(format_trace(work, TEXTS).text)["traceEvents"]
    named = {(each["pid"], each["tid"]) for each in events if each["name"] == "thread_name"}
    processes = {each["pid"] for each in events if each["name"] == "process_name"}
    assert {(each["pid"], each["tid"]) for each in events if each["ph"] == "X"} <= named
    assert {process for process, _ in named} == processes == {1, 2, 3, 4}


def test_a_warp_s_slices_follow_one_another_and_stalls_lie_inside(work: MachineWork) -> None:
    trace = format_trace(work, TEXTS)
    tracks: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for each in slices(trace, "instruction"):
        tracks[each["pid"], each["tid"]].append(each)
    for track in tracks.values():
        for before, after in pairwise(track):
            assert before["ts"] + before["dur"] <= after["ts"]
    for stall in slices(trace, "stall"):
        assert any(
            each["ts"] <= stall["ts"] and stall["ts"] + stall["dur"] <= each["ts"] + each["dur"]
            for each in tracks[stall["pid"], stall["tid"]]
        )


def test_what_it_tells_is_what_the_simulation_counted(work: MachineWork) -> None:
    trace = format_trace(work, TEXTS)
    (launch,) = work.simulated
    executed = slices(trace, "instruction")
    assert sum(each["dur"] for each in executed) == launch.cycles.resident_cycles
    issued = slices(trace, "issued")
    assert len(issued) == len(executed)
    assert len({(each["pid"], each["ts"]) for each in issued}) == len(issued)  # one a cycle
    waited = sum(each["dur"] for each in slices(trace, "stall") if each["name"] == "barrier")
    (listing,) = work.listings
    known = sum(row.cycles[5] for row in launch.cycles.instructions)
    assert waited == known > 0
    load = next(each for each in executed if each["name"].startswith("LDG"))["args"]
    assert load["source"] == f"line {load['line']}"
    assert load["instruction"] in {each.text for each in listing.instructions}


def test_it_ends_where_there_is_no_room_and_says_so(
    work: MachineWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = format_trace(work, TEXTS)
    assert "all " in whole.notes[0]
    monkeypatch.setattr(module, "TRACED_SPANS", 200)
    short = format_trace(replace(work, simulated=work.simulated * 2), TEXTS)
    assert "the first " in short.notes[0]
    assert short.notes[1] == "1 more launch is left out."
    assert len(slices(short, "instruction")) < len(slices(whole, "instruction"))
    end = max(each["ts"] + each["dur"] for each in slices(short, "instruction"))
    assert f"the first {end:,} of" in short.notes[0]


def test_launches_come_one_behind_the_other(work: MachineWork) -> None:
    twice = format_trace(replace(work, simulated=work.simulated * 2), TEXTS)
    events = slices(twice, "instruction")
    first = [each for each in events if each["pid"] <= 4]
    second = [each for each in events if each["pid"] > 4]
    assert max(each["ts"] + each["dur"] for each in first) < min(each["ts"] for each in second)


def test_a_gz_is_compressed(work: MachineWork, tmp_path: Path) -> None:
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    write_trace(plain, work, TEXTS)
    write_trace(packed, work, TEXTS)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
