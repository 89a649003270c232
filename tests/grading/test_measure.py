"""Rounds on a modelled clock: in which order, how many, and what drift, scatter, throttling and
wrong outputs make of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from random import Random

import pytest

from grader.grading.measure import (
    ATTEMPTS,
    CALL_SECONDS,
    FEWEST_ROUNDS,
    FIRST_SECONDS,
    MAX_SECONDS,
    MIN_ROUNDS,
    WARM_UP_SECONDS,
    Measurement,
    measure,
)
from grader.judging.timing import CHECKPOINTS, NAIVE, REFERENCE, estimate_metrics
from grader.records import (
    SUBMISSION,
    ClockState,
    Disturbed,
    Progress,
    ShowProgress,
    TimedLaunch,
    TimedStep,
    Timing,
    show_nothing,
)
from tests.support.factories import GPU, make_exercise
from tests.support.fake_clock import STEADY, FakeClock

TIMES_MS = {SUBMISSION: 0.2, NAIVE: 1.3, REFERENCE: 0.19}
SIZES = {"rows": 8192, "cols": 8192}


def run(
    device: FakeClock,
    *still_open: Collection[str],
    programs: Sequence[str] = tuple(TIMES_MS),
    show: ShowProgress = show_nothing,
) -> Measurement:
    """Measure; `still_open` is which programs each look of a measurement needs more of, none from
    then on."""
    answers = list(still_open)

    def find_open(timings: Sequence[Timing]) -> Collection[str]:
        return answers.pop(0) if answers else ()

    return measure(
        device,
        programs,
        input_sets=3,
        find_open=find_open,
        rng=Random(5),
        show=show,
        clock=device.clock,
    )


def samples(found: Measurement) -> dict[str, int]:
    return {timing.plan: len(timing.samples_ms) for timing in found.timings}


def speedup(found: Measurement) -> tuple[float, float]:
    estimate = estimate_metrics(found.timings, SIZES, make_exercise(), GPU)["speedup_over_naive"]
    return estimate.low, estimate.high


def test_it_ends_at_the_first_look_that_leaves_nothing_open() -> None:
    assert samples(run(FakeClock(TIMES_MS))) == dict.fromkeys(TIMES_MS, CHECKPOINTS[0])


def test_while_something_is_open_there_are_more_rounds_up_to_a_cap() -> None:
    device = FakeClock(TIMES_MS)
    found = run(device, *[[SUBMISSION, NAIVE]] * 99)
    assert samples(found) == {
        SUBMISSION: CHECKPOINTS[-1],
        NAIVE: CHECKPOINTS[-1],
        REFERENCE: CHECKPOINTS[0],
    }
    assert found.disturbed is None


def test_the_baseline_is_timed_only_as_long_as_a_ratio_is_open() -> None:
    found = run(FakeClock(TIMES_MS), [SUBMISSION, NAIVE], [SUBMISSION])
    assert samples(found) == {
        SUBMISSION: CHECKPOINTS[2],
        NAIVE: CHECKPOINTS[1],
        REFERENCE: CHECKPOINTS[0],
    }


def test_a_program_that_was_left_out_does_not_come_back_because_rounds_are_compared() -> None:
    found = run(FakeClock(TIMES_MS), [SUBMISSION], [SUBMISSION, NAIVE])
    assert samples(found) == {
        SUBMISSION: CHECKPOINTS[2],
        NAIVE: CHECKPOINTS[0],
        REFERENCE: CHECKPOINTS[0],
    }


def test_each_round_has_every_program_once_in_an_order_of_its_own() -> None:
    device = FakeClock(TIMES_MS)
    run(device)
    programs = [step.program for step in device.calls[-1]]
    rounds = [tuple(programs[i : i + 3]) for i in range(0, len(programs), 3)]
    assert len(rounds) == CHECKPOINTS[0]
    assert {frozenset(each) for each in rounds} == {frozenset(TIMES_MS)}
    assert len(set(rounds)) > 3


def test_no_two_consecutive_launches_share_their_inputs() -> None:
    device = FakeClock(TIMES_MS)
    run(device, [SUBMISSION], [SUBMISSION])
    for call in device.calls:
        assert all(
            step.input_set != following.input_set for step, following in itertools.pairwise(call)
        )
    for program in TIMES_MS:
        assert {step.input_set for step in device.steps if step.program == program} == {0, 1, 2}


def test_the_same_seed_gives_the_same_rounds() -> None:
    one, other = FakeClock(TIMES_MS), FakeClock(TIMES_MS)
    assert run(one) == run(other)
    assert one.steps == other.steps


def test_the_warm_up_is_long_enough_and_left_out() -> None:
    def cold(launch: int) -> float:
        return 3.0 if device.seconds < WARM_UP_SECONDS - 0.02 else 1.0

    device = FakeClock(TIMES_MS, noise=0, drift=cold)
    found = run(device)
    warm_steps = len(device.steps) - len(device.calls[-1])
    assert warm_steps > 0
    assert all(
        timing.samples_ms == (TIMES_MS[timing.plan],) * CHECKPOINTS[0] for timing in found.timings
    )


def test_drift_of_the_clocks_cancels_in_the_ratios() -> None:
    device = FakeClock(TIMES_MS, noise=0.002, drift=lambda launch: 1 + launch / 400)
    found = run(device, programs=(SUBMISSION, NAIVE))
    low, high = speedup(found)
    assert low <= 6.5 <= high
    assert high - low < 0.1
    submission = found.timings[0] if found.timings[0].plan == SUBMISSION else found.timings[1]
    assert (
        submission.interval_ms[1] / submission.interval_ms[0] > 1.02
    )  # the times themselves did drift


def test_verdicts_do_not_change_from_run_to_run() -> None:
    """Ten measurements of one kernel on a GPU that scatters by half a percent: all on the same side
    of goals 1.5 % away."""
    intervals = [speedup(run(FakeClock(TIMES_MS, noise=0.005, seed=seed))) for seed in range(10)]
    assert all(6.5 * 0.985 < low < high < 6.5 * 1.015 for low, high in intervals)


HOT = ClockState(sm_mhz=(1965, 1980), throttled=("hw_thermal_slowdown",))


def test_a_disturbed_measurement_is_repeated() -> None:
    # Every measurement warms up in several calls of `time` and then measures in one.
    first = FakeClock(TIMES_MS)
    run(first)
    device = FakeClock(TIMES_MS, clocks=[*[STEADY] * (len(first.calls) - 1), HOT, STEADY])
    found = run(device)
    assert found.attempts == 2
    assert found.disturbed is None
    assert found.clocks == STEADY
    assert samples(found) == dict.fromkeys(TIMES_MS, CHECKPOINTS[0])


def test_a_gpu_that_stays_throttled_is_given_up_and_its_samples_are_kept() -> None:
    found = run(FakeClock(TIMES_MS, clocks=[HOT]))
    assert found.attempts == ATTEMPTS
    how = "the GPU was slowed down (hw thermal slowdown)"
    assert found.disturbed == Disturbed(ATTEMPTS, how)
    assert samples(found) == dict.fromkeys(TIMES_MS, CHECKPOINTS[0])


def test_outputs_that_are_wrong_in_a_timed_run_end_it() -> None:
    device = FakeClock(TIMES_MS)
    run(device)
    warm = sum(step.program == SUBMISSION for call in device.calls[:-1] for step in call)
    found = run(FakeClock(TIMES_MS, wrong=frozenset({warm + 7})), [SUBMISSION])
    assert found.wrong is not None
    assert not found.wrong.right
    assert found.disturbed is None


def test_outputs_that_are_wrong_while_warming_up_count_too() -> None:
    found = run(FakeClock(TIMES_MS, wrong=frozenset({0})))
    assert found.wrong is not None
    assert found.timings == ()


def test_slow_programs_have_fewer_rounds() -> None:
    device = FakeClock({SUBMISSION: 900.0, NAIVE: 1300.0, REFERENCE: 0.2})
    found = run(device, [SUBMISSION], [SUBMISSION])
    assert samples(found) == dict.fromkeys(TIMES_MS, MIN_ROUNDS)
    medium = FakeClock({SUBMISSION: 30.0, NAIVE: 60.0, REFERENCE: 1.0})
    found = run(medium, [SUBMISSION], [SUBMISSION])
    assert CHECKPOINTS[0] <= samples(found)[SUBMISSION] <= CHECKPOINTS[-1]
    assert medium.seconds < 1 + MAX_SECONDS


def test_the_first_test_of_slow_programs_comes_early() -> None:
    times = {SUBMISSION: 2.5, NAIVE: 35.0, REFERENCE: 2.5}
    assert set(samples(run(FakeClock(times))).values()) == {int(FIRST_SECONDS / 0.042)}
    slower = {SUBMISSION: 30.0, NAIVE: 60.0, REFERENCE: 1.0}
    assert set(samples(run(FakeClock(slower))).values()) == {FEWEST_ROUNDS}
    later = samples(run(FakeClock(slower), [SUBMISSION]))
    assert later == {SUBMISSION: CHECKPOINTS[0], NAIVE: FEWEST_ROUNDS, REFERENCE: FEWEST_ROUNDS}


def test_no_request_lasts_long() -> None:
    """The device's wall limit is for a request."""
    device = FakeClock({SUBMISSION: 100.0, NAIVE: 200.0, REFERENCE: 10.0})
    run(device)
    assert len(device.calls) > 2
    assert all(
        sum(device.times_ms[step.program] for step in call) <= 1000 * CALL_SECONDS
        for call in device.calls
    )


def test_a_launch_that_does_not_end_well_ends_it() -> None:
    """The device answers it with no time, and nothing after it."""

    class Faulty(FakeClock):
        def time(
            self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
        ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
            taken, clocks = super().time(steps, progress=progress)
            end = next((i for i, launch in enumerate(taken) if not launch.right), len(taken) - 1)
            launch = taken[end]
            return (
                *taken[:end],
                launch if launch.right else TimedLaunch(launch.step, math.nan, right=False),
            ), clocks

    found = run(Faulty(TIMES_MS, wrong=frozenset({90})), [SUBMISSION])
    assert found.wrong is not None
    assert math.isnan(found.wrong.milliseconds)
    assert found.timings == ()


def test_progress_tells_the_stages() -> None:
    steps: list[Progress] = []
    run(FakeClock(TIMES_MS), show=steps.append)
    assert list(dict.fromkeys(step.stage for step in steps)) == ["warming up the GPU", "timing"]


@pytest.mark.parametrize("reason", ["gpu_idle", "applications_clocks", "sw_power_cap"])
def test_ordinary_limits_of_the_clock_disturb_nothing(reason: str) -> None:
    assert (
        run(
            FakeClock(TIMES_MS, clocks=[ClockState(sm_mhz=(1900, 1980), throttled=(reason,))])
        ).attempts
        == 1
    )
