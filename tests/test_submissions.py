"""Submissions as students hand them in: every file of submissions/<exercise>/ has its verdict in
its name.

The name is the verdict on an H100, where every check is judged; --run-gpu grades the files there. A
passed file with `bonus` in its name earns the bonus too; with `bonus_refused`, it tries to in a way
that earns none. The emulated device grades a sixteenth of them everywhere and all with --run-slow,
and the tables below hold what it says otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.judging.checks import earned_fraction
from grader.metrics import TIMED
from grader.records import CheckResult, CheckStatus, Score, Status
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise

ROOT = Path(__file__).resolve().parents[1]
SUBMISSIONS = ROOT / "tests" / "submissions"
FILES = sorted(SUBMISSIONS.glob("*/*.cu"))
SEED = 11

UNSUPPORTED_SO_FAR = {
    "failed--tensor_cores": "HMMA",
}
"""What the emulated device cannot run yet, and what it must say then; whoever teaches it an
instruction takes its line out."""

ONLY_A_CLOCK_TELLS = {
    "failed--bit_tricks": "65 % of an H100's peak bandwidth, 80 % are asked",
    "failed--coalesced_4x4": "3.7 x the coalesced kernel, 4 x are asked",
    "failed--column_of_eight": "2.9 x the coalesced kernel, 4 x are asked",
    "failed--constant_table": "65 % of an H100's peak bandwidth, 80 % are asked",
    "failed--cooperative_groups": "78 % of an H100's peak bandwidth, 80 % are asked",
    "failed--copy_to_scratch_first": "38 % of an H100's peak bandwidth, 80 % are asked",
    "failed--divided_by_one": "66 % of an H100's peak bandwidth, 80 % are asked",
    "failed--double_buffered_4x4": "3.1 x the coalesced kernel, 4 x are asked",
    "failed--dynamic_shared_memory": "65 % of an H100's peak bandwidth, 80 % are asked",
    "failed--extern_c": "67 % of an H100's peak bandwidth, 80 % are asked",
    "failed--float2_split_tiles": "77 % of an H100's peak bandwidth, 80 % are asked",
    "failed--in_place_swap": "31 % of an H100's peak bandwidth, 80 % are asked",
    "failed--lambdas": "64 % of an H100's peak bandwidth, 80 % are asked",
    "failed--lanes_with_trip_counts_of_their_own": (
        "66 % of an H100's peak bandwidth, 80 % are asked"
    ),
    "failed--one_dimensional_block": "79 % of an H100's peak bandwidth, 80 % are asked",
    "failed--one_dimensional_block_tall_tile": "79 % of an H100's peak bandwidth, 80 % are asked",
    "failed--one_warp_and_syncwarp": "79 % of an H100's peak bandwidth, 80 % are asked",
    "failed--padded_block_rows_16": "54 % of an H100's peak bandwidth, 80 % are asked",
    "failed--padded_one_element_a_thread": "49 % of an H100's peak bandwidth, 80 % are asked",
    "failed--padded_tiles": "1.11 x the coalesced kernel, 1.3 x are asked",
    "failed--permuted_rows_by_switch": "68 % of an H100's peak bandwidth, 80 % are asked",
    "failed--persistent_blocks": "48 % of an H100's peak bandwidth, 80 % are asked",
    "failed--queue_of_tiles": "64 % of an H100's peak bandwidth, 80 % are asked",
    "failed--shuffle_rotation": "9 % of an H100's peak bandwidth, 80 % are asked",
    "failed--switch_with_fall_through": "66 % of an H100's peak bandwidth, 80 % are asked",
    "failed--three_dimensional_block": "65 % of an H100's peak bandwidth, 80 % are asked",
    "failed--tile_number_in_size_t": "63 % of an H100's peak bandwidth, 80 % are asked",
    "failed--tile_of_16": "1.25 x the coalesced kernel, 1.3 x are asked",
    "failed--tiled_without_registers": "1.5 x the coalesced kernel, 4 x are asked",
    "failed--volatile_tile": "68 % of an H100's peak bandwidth, 80 % are asked",
    "failed--xor_swizzle_32x8_threads": "65 % of an H100's peak bandwidth, 80 % are asked",
    "failed--xor_swizzle": "49 % of an H100's peak bandwidth, 80 % are asked",
}
"""What passes where no time is modelled (`--no-model`), and what an H100's clock told
(benchmarks/gpu.py)."""

ONLY_THE_TIMED_SIZE_TELLS = (
    "_when_timed",
    "_where_counted",
    "_of_one_multiprocessor",
    "_on_every_multiprocessor",
    "one_busy_block",
    "first_blocks_only",
    "long_launch_before_the_garbage",
    "atomic_that_never_runs",
)
"""How the names of files end that are honest up to some thousand rows or columns: without a model
nobody looks beyond."""

TOO_CLOSE_TO_CALL = (
    "failed--cooperative_groups",
    "failed--float2_split_tiles",
    "failed--one_dimensional_block",
    "failed--one_dimensional_block_tall_tile",
    "failed--one_warp_and_syncwarp",
    "failed--tile_of_16",
)
"""Those of them that an H100's clock fails narrowly, and that pass on the model with the benefit of
the doubt."""

A_GPU_DOES_NOT_NOTICE = {
    "failed--barrier_under_a_guard": Status.RUNTIME_ERROR,  # a barrier that threads skip
    "failed--n_for_k_beyond_the_inputs": Status.RUNTIME_ERROR,  # reads beyond a buffer
    "timeout--barriers_in_both_branches": (
        Status.RUNTIME_ERROR
    ),  # threads that wait at different barriers
}
"""What the emulated device says of mistakes that merely give wrong outputs on a GPU, or hang it."""

EARNED_BY_ATTACKS = {
    "asks_the_cache_to_keep_its_input": 45,  # it is right, and reads along rows
    "remembers_its_first_output": 40,  # it is right when nothing was there to remember
    "escape_sequences_and_html": 60,  # it is right and coalesced, with bank conflicts
} | dict.fromkeys(
    (
        "asks_for_files",
        "asks_for_files_by_pasting",
        "asks_for_files_by_pragma",
        "copies_stale_scratch_memory",
        "copies_the_input",
        "file_in_the_machine_code",
        "first_products_of_long_sums",
        "giant_initialised_array",
        "host_code_that_would_run_first",
        "html_in_a_launch_line",
        "include_behind_a_line_directive",
        "include_made_by_a_macro",
        "includes_a_file_of_the_machine",
        "includes_a_file_that_may_not_exist",
        "includes_an_endless_file",
        "includes_by_macro",
        "includes_its_environment",
        "includes_itself",
        "includes_the_hidden_reference",
        "knows_one_seed",
        "knows_the_inputs_of_the_handout",
        "macro_bomb",
        "makes_input_and_output_agree",
        "more_scratch_than_there_is",
        "one_element_for_all",
        "one_tile_in_four",
        "only_a_corner",
        "overwrites_what_lies_around_the_output",
        "prints_a_verdict",
        "scratch_never_filled",
        "searches_memory_for_the_answer",
        "squares_only",
        "template_bomb",
        "transposes_its_input_in_place",
        "works_at_small_sizes_only",
        "works_at_the_public_sizes_only",
        "works_at_the_timed_size_only",
        "writes_infinity",
        "writes_nan_everywhere",
        "writes_nothing",
        "writes_zeros",
    ),
    0,
)
"""Files that try to get points without the work, by the reason in their name, and what each gets:
what it has earned."""

WHY_THE_BONUS_IS_REFUSED = {
    "passed--bonus_refused_array_behind_a_pointer": (
        "can reach 4,194,304 bytes of them, most of them declared in line 23"
    ),
    "passed--bonus_refused_device_array": (
        "can reach 4,194,304 bytes of them, most of them declared in line 23"
    ),
    "passed--bonus_refused_device_array_by_atomics": (
        "can reach 4,194,304 bytes of them, most of them declared in line 23"
    ),
    "passed--bonus_refused_scratch_buffer": (
        "allows no scratch memory: line 5 declares 'float copy[n * n]'"
    ),
    "passed--bonus_refused_scratch_of_the_other_task": (
        "line 6, column 57: 'copy' is not known here"
    ),
    "passed--bonus_refused_sgemm_ignores_beta": (
        "8 of 8 cases: one tile, ragged, one product each, ..."
    ),
}
"""Files that are right, and try for the bonus in a way that earns none: what its check says."""

TOLD_BY_A_GPU: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests" / "data" / "verdicts_h200.json").read_text(encoding="utf-8")
)
"""What an H200 said of every file (benchmarks/verdicts.py)."""
MODEL_ERROR = 0.15
"""Modelled times may be off by so much before the rule is broken; benchmarks/model.py publishes the
errors."""

_ONE_BY_ONE = (
    "patches computed element by element take 41 ms on an H200, 25 are modelled: 2.3 points of the"
    " arithmetic rate too many"
)
_NAIVE = "the naive transpose takes 1.03 ms on an H200, 1.27 are modelled (on an H100 both are)"
THE_MODEL_IS_FAR_OFF = {
    "gemm_register_blocked/failed--blocks_of_one_multiprocessor": _ONE_BY_ONE,
    "gemm_register_blocked/failed--good_where_counted": _ONE_BY_ONE,
    "gemm_register_blocked/failed--one_busy_block": _ONE_BY_ONE,
    "transpose/failed--columns_read_by_or": f"{_NAIVE}: 1.6 points too many",
    "transpose/failed--columns_written_by_exchange": f"{_NAIVE}: 1.9 points too many",
    "transpose/failed--in_place_swap": f"{_NAIVE}: 3.3 points too many",
    "transpose/failed--conflicting_tile": (
        f"{_NAIVE}, and 26 % of the peak where it has 21 %: 5 points too many"
    ),
    "transpose/failed--grid_stride_long_long": (
        f"{_NAIVE}, and 32 % of the peak where it has 20 %: 5.5 points too many"
    ),
    "transpose/failed--padding_of_sixteen": (
        "62 % of an H200's peak are modelled where it has 53 %: 3.4 points too many"
    ),
    "transpose/failed--persistent_blocks": (
        "43 % of an H200's peak are modelled where it has 36 %: 1.2 points too many"
    ),
}
"""Where an error of a modelled time beyond MODEL_ERROR gives points, and how large it is."""

NAME = re.compile(r"(?P<status>[a-z_]+)--(?P<reason>[a-z0-9_]+)")


def grade(file: Path, device: str, cache: Path, *, model: bool = True) -> Score:
    return grader.grade(
        ROOT / "exercises" / file.parent.name,
        file,
        device=device,
        seed=SEED,
        cache=cache,
        model=model,
    )


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def a_sixteenth_unless_slow() -> list[object]:
    """All files; fifteen of sixteen are marked slow, for all take ten minutes of a processor."""
    return [
        pytest.param(file, marks=[pytest.mark.slow] if index % 16 else [])
        for index, file in enumerate(FILES)
    ]


@pytest.mark.parametrize("file", a_sixteenth_unless_slow(), ids=name_of)
def test_the_verdict_on_the_emulated_device(file: Path, cache: Path) -> None:
    score = grade(file, "emulated:h100", cache, model=False)
    if file.stem.endswith(ONLY_THE_TIMED_SIZE_TELLS):
        check_verdict(score, Status.PASSED, file)
        return
    if file.stem in UNSUPPORTED_SO_FAR:
        assert score.status is Status.UNSUPPORTED, describe(score)
        assert UNSUPPORTED_SO_FAR[file.stem] in score.message
        return
    if file.stem in ONLY_A_CLOCK_TELLS:
        assert CheckStatus.NOT_MEASURED in {check.status for check in graded(score)}, describe(
            score
        )
        check_verdict(score, Status.PASSED, file)
        return
    check_verdict(score, A_GPU_DOES_NOT_NOTICE.get(file.stem, status_of(file)), file)
    reason = file.stem.partition("--")[2]
    assert score.score == EARNED_BY_ATTACKS.get(reason, score.score)


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file.stem.startswith("passed") or file.stem in ONLY_A_CLOCK_TELLS],
    ids=name_of,
)
def test_the_verdict_with_modelled_times(file: Path, cache: Path) -> None:
    score = grade(file, "emulated:h100", cache)
    if file.stem in TOO_CLOSE_TO_CALL:
        assert any("too close to call on a model" in check.message for check in graded(score)), (
            describe(score)
        )
        check_verdict(score, Status.PASSED, file)
    else:
        check_verdict(score, status_of(file), file)


def all_if_slow() -> list[object]:
    """All files; two by default for which an emulated device gave points that a GPU does not
    give."""
    default = (
        "gemm_coalesced/failed--spins_and_writes_nothing_when_timed",
        "gemm_tiled/failed--every_second_block_when_timed",
    )
    marks = {
        name: [pytest.mark.xfail(reason=why, strict=True)]
        for name, why in THE_MODEL_IS_FAR_OFF.items()
    }
    slow = {name_of(file): [pytest.mark.slow] for file in FILES if name_of(file) not in default}
    return [
        pytest.param(file, marks=marks.get(name_of(file), []) + slow.get(name_of(file), []))
        for file in FILES
    ]


@pytest.mark.parametrize("file", all_if_slow(), ids=name_of)
def test_no_more_points_than_a_gpu_gives(file: Path, cache: Path) -> None:
    told = TOLD_BY_A_GPU[name_of(file)]
    score = grade(file, "emulated:h200", cache)
    doubt = points_within_the_model_s_error(
        read_exercise(ROOT / "exercises" / file.parent.name), told, score
    )
    assert score.score <= told["score"] + doubt + 0.005, (
        f"{told['score']} and {doubt:.2f} on an H200\n{describe(score)}"
    )


def points_within_the_model_s_error(
    exercise: Exercise, told: dict[str, Any], score: Score
) -> float:
    """What the checks of times would give more if the GPU had been quicker by MODEL_ERROR."""
    more = 0.0
    for check in exercise.checks:
        if check.metric not in TIMED:
            continue
        points, value = told["checks"][check.name]
        if value is not None:
            more += (
                check.points
                * earned_fraction(value * (1 + MODEL_ERROR), check.threshold_on(score.device))
                - points
            )
    return more


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_gpu_told_of_this_very_file(file: Path) -> None:
    assert TOLD_BY_A_GPU[name_of(file)]["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.gpu
@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_verdict_on_a_gpu(file: Path, cache: Path) -> None:
    score = grade(file, "gpu", cache)
    if score.device is not None and score.device.id != "h100":
        pytest.skip(f"the names are verdicts on an H100, this GPU is {score.device.name}")
    check_verdict(score, status_of(file), file)


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_the_first_line_says_what_it_is(file: Path) -> None:
    first, _ = file.read_text(encoding="utf-8").split("\n", 1)
    assert re.match(r"// .*\w{3}", first), (
        "the first line must be a comment that says what the file is"
    )
    assert not first.startswith(("// launch:", "// scratch:"))


@pytest.mark.parametrize("reason", EARNED_BY_ATTACKS)
def test_every_attack_is_a_file(reason: str) -> None:
    assert [file.stem.partition("--")[2] for file in FILES].count(reason) == 1


@pytest.mark.parametrize(
    "stem",
    [*UNSUPPORTED_SO_FAR, *ONLY_A_CLOCK_TELLS, *A_GPU_DOES_NOT_NOTICE, *WHY_THE_BONUS_IS_REFUSED],
)
def test_the_tables_name_one_file_each(stem: str) -> None:
    assert [file.stem for file in FILES].count(stem) == 1


def test_every_refused_bonus_has_a_reason() -> None:
    assert {file.stem for file in FILES if "bonus_refused" in file.stem} == set(
        WHY_THE_BONUS_IS_REFUSED
    )


def check_verdict(score: Score, expected: Status, file: Path) -> None:
    """`expected`, and points and words that go with it."""
    assert score.status == expected, describe(score)
    assert score.device is not None
    if score.status is not Status.PASSED:
        assert score.message
        assert score.score < score.judged_points
        return
    assert {check.status for check in graded(score)} <= {
        CheckStatus.PASSED,
        CheckStatus.NOT_MEASURED,
    }, describe(score)
    assert sum(check.points for check in graded(score)) == score.judged_points > 0
    for bonus in (check for check in score.checks if check.bonus):
        assert bonus.status is bonus_of(file), describe(score)
        assert WHY_THE_BONUS_IS_REFUSED.get(file.stem, "") in bonus.message


def graded(score: Score) -> list[CheckResult]:
    return [check for check in score.checks if not check.bonus]


def bonus_of(file: Path) -> CheckStatus:
    if file.stem in WHY_THE_BONUS_IS_REFUSED:
        return CheckStatus.FAILED
    return CheckStatus.PASSED if "bonus" in file.stem else CheckStatus.SKIPPED


def status_of(file: Path) -> Status:
    match = NAME.fullmatch(file.stem)
    assert match is not None, f"{file.name} is not named <status>--<reason>.cu"
    return Status(match["status"])


def describe(score: Score) -> str:
    """What a person needs to see when the verdict is another one."""
    checks = [f"{check.name}: {check.status} ({check.message})" for check in score.checks]
    wrong = [f"case {case.name}: {case.message}" for case in score.cases if not case.passed]
    return "\n".join([f"{score.status}: {score.message}", score.detail, *checks, *wrong])
