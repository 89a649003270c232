"""Advice that fits a kernel's rung: hints with conditions, and references between hints."""

from __future__ import annotations

from dataclasses import replace

from grader.messages.hints import hint_at_misses
from grader.messages.reasons import describe_next_step
from grader.messages.slowness import find_waste
from grader.records import CheckResult, CheckStatus, Counters
from grader.spec.exercise import CheckSpec, ConditionalHint, Threshold
from tests.messages.test_hints import NO_FACTS
from tests.support.factories import QUICK

TILES = ConditionalHint("shared_wavefronts", "Use larger tiles.", at_least=1)
CHECK = CheckSpec(
    "reads", "Reads", "time_ms", 5, Threshold(at_most=0), hint="Use tiles.", hints=(TILES,)
)


def lost(name: str, action: str, cost: float, refers_to: str | None = None) -> CheckResult:
    return CheckResult(
        name, name.title(), CheckStatus.FAILED, 0, 9, "time_ms", 1, "", "", None, "", "A hint.",
        cost_points=cost, action=action, refers_to=refers_to,
    )  # fmt: skip


def test_the_first_fitting_condition_chooses_the_hint() -> None:
    poor = ConditionalHint("global_load_efficiency", "Coalesce.", at_most=0.5)
    check = replace(CHECK, hints=(poor, TILES))
    assert check.hint_for({}) == "Use tiles."
    assert check.hint_for({"shared_wavefronts": 0}) == "Use tiles."
    assert check.hint_for({"shared_wavefronts": 7}) == "Use larger tiles."
    assert check.hint_for({"shared_wavefronts": 7, "global_load_efficiency": 0.5}) == "Coalesce."
    assert check.hint_for({"global_load_efficiency": None}) == "Use tiles."


def test_a_report_shows_the_fitting_hint() -> None:
    facts = replace(NO_FACTS, values={"shared_wavefronts": 3.0})
    (told,) = hint_at_misses([lost("reads", "", 5)], [CHECK], facts)
    assert told.hint == "Use larger tiles."


def test_the_next_step_counts_the_checks_that_refer_to_a_hint() -> None:
    checks = (
        lost("speed", "It is slow: see Banks.", 20, "Banks"),
        lost("rate", "See Speed.", 20, "Speed"),
        lost("banks", "line 3: Pad the rows.", 10),
        lost("reads", "line 9: Read rows.", 30),
    )
    step = describe_next_step(replace(QUICK, checks=checks))
    assert step.startswith("Banks (10 points): line 3: Pad the rows.")


def test_a_hint_that_refers_to_itself_ends() -> None:
    checks = (lost("speed", "See Speed.", 5, "Speed"),)
    assert describe_next_step(replace(QUICK, checks=checks)).startswith("Speed (5 points)")


def test_waste_that_hardly_counts_is_no_reason_for_a_slow_kernel() -> None:
    stores = Counters(
        global_store_requests=10,
        global_store_sectors=160,
        global_store_sectors_ideal=40,
        global_store_bytes=1280,
    )
    busy = {"shared_load_wavefronts": 10_000, "shared_wavefronts_ideal": 10_000}
    assert find_waste(stores) == "global_store_efficiency"
    assert find_waste(replace(stores, **busy)) is None


def test_waste_that_a_passed_check_judges_is_no_reason_for_a_slow_kernel() -> None:
    gather = Counters(
        global_load_requests=10,
        global_load_sectors=160,
        global_load_sectors_ideal=40,
        global_load_bytes=1280,
    )
    assert find_waste(gather, {"correctness"}) == "global_load_efficiency"
    assert find_waste(gather, {"correctness", "global_load_sectors"}) is None
    assert find_waste(gather, {"shared_bank_conflicts"}) == "global_load_efficiency"
