"""`grade check` on the exercise that `grade new` writes, whole and with one thing broken at a
time."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.authoring import verdicts
from grader.authoring.check import Scope, check_exercise, default_submissions
from grader.authoring.mutant_fates import judge_mutants, sample_mutants
from grader.authoring.mutants import make_mutants
from grader.authoring.verdicts import judge_reference
from grader.cli import main
from grader.errors import SpecError, SpecProblem
from grader.records import CheckStatus, Failure, Options, Progress, Score, Status
from grader.report.soundness import Fate, MutantFate, Proof, Soundness
from grader.spec.reader import read_exercise
from tests.authoring.conftest import Change, edit_spec
from tests.support.factories import make_failed, make_graded, with_last

Check = Callable[..., Soundness]
ROOT = Path(__file__).resolve().parents[2]
TRANSPOSE = ROOT / "exercises" / "transpose"


@pytest.fixture
def check(exercise: Path) -> Check:
    return lambda **settings: check_folder(exercise, **settings)


def check_folder(folder: Path, *, mutants: bool = False) -> Soundness:
    scope = Scope(Options("emulated:h100", 5), 2, default_submissions(folder), try_mutants=mutants)
    return check_exercise(folder, scope)


def proofs(found: Soundness) -> dict[str, Proof]:
    return {claim.subject: claim.proof for claim in found.claims}


def details(found: Soundness, subject: str) -> str:
    return "\n".join(
        line
        for claim in found.claims
        if claim.subject == subject
        for line in (claim.found, *claim.details)
    )


def leave_whole_blocks(spec: dict[str, Any]) -> None:
    spec["cases"].update(public=spec["cases"]["public"][:1], hidden=[])


def with_all_judged(score: Score) -> Score:
    return replace(
        score, checks=tuple(replace(check, status=CheckStatus.PASSED) for check in score.checks)
    )


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.slow
def test_a_new_exercise_is_sound_and_its_mutants_are_caught(timed_exercise: Path) -> None:
    found = check_folder(timed_exercise, mutants=True)
    assert found.sound
    assert {proof for subject, proof in proofs(found).items() if subject != "submissions"} == {
        Proof.HOLDS
    }
    assert {mutant.fate for mutant in found.mutants} == {Fate.CAUGHT}
    assert len(found.mutants) >= 4
    exercise = read_exercise(timed_exercise)
    names = {case.name for case in (*exercise.public_cases, *exercise.hidden_cases)}
    assert {mutant.why for mutant in found.mutants} & {f"the case '{name}'" for name in names}


def test_a_case_that_is_missing_lets_mutants_survive_and_the_author_may_accept_one(
    check: Check, exercise: Path
) -> None:
    """Whole blocks only: nothing tells `ceil_div` from `/` then, nor a guard from none."""
    edit_spec(exercise, leave_whole_blocks)
    solution = exercise.parents[1] / "solutions" / "add_up.cu"
    replace_in(
        solution, "    if (i < n)\n", "    if (i < n)  // survives: n is a multiple of the block\n"
    )
    found = check(mutants=True)
    assert not found.sound
    assert proofs(found)["mutants"] is Proof.FAILS
    fates = {fate: [mutant for mutant in found.mutants if mutant.fate is fate] for fate in Fate}
    assert fates[Fate.CAUGHT]
    assert "skipped tail" in {mutant.mistake for mutant in fates[Fate.SURVIVED]}
    assert "line 5: skipped tail" in details(found, "mutants")
    assert "missing guard" in {mutant.mistake for mutant in fates[Fate.ACCEPTED]}
    assert all("n is a multiple of the block" in mutant.why for mutant in fates[Fate.ACCEPTED])


def test_a_mutant_that_does_not_end_is_stopped_soon(check: Check, exercise: Path) -> None:
    """The spec lets a program execute 25 times as much as a mutant may."""
    solution = exercise.parents[1] / "solutions" / "add_up.cu"
    loop = "    for (int s = blockDim.x; s > 0; s /= 2)\n        __syncthreads();\n"
    replace_in(solution, "    if (i < n)\n", f"{loop}    if (i < n)\n")
    mutants = check(mutants=True).mutants
    assert mutants is not None
    (endless,) = (each for each in mutants if "s >= 0" in each.change)
    assert endless.fate is Fate.CAUGHT
    limit = re.search(r"the limit of ([\d,]+) executed warp instructions is spent", endless.why)
    assert limit is not None
    assert int(limit[1].replace(",", "")) < 20_000_000


def test_a_sample_has_two_mutants_of_each_mistake() -> None:
    text = (ROOT / "solutions" / "transpose.cu").read_text()
    mutants = make_mutants(text)
    sample = sample_mutants(mutants, 5)
    kinds = Counter(mutant.mistake for mutant in mutants)
    assert Counter(each.mistake for each in sample) == {k: min(2, n) for k, n in kinds.items()}
    assert sample == sample_mutants(mutants, 5) == tuple(m for m in mutants if m in sample)
    assert len({sample_mutants(mutants, seed) for seed in range(9)}) > 1


def test_a_miss_names_line_and_buffer(check: Check) -> None:
    """The starter is to miss these."""
    told = details(check(), "starter")
    assert "global_load_efficiency: line 29: `c[i] = a[i] + b[i];` moves 32 sectors" in told
    assert "global_store_efficiency: line 29: c[i] moves 32 sectors a request where 4" in told
    assert "Let threads with" not in told


BROKEN_SPECS: list[tuple[Change, str]] = [
    (
        lambda spec: spec.update(useful_bytes="3 * m * 4"),
        "spec.json: $.useful_bytes: column 5: 'm' is not known",
    ),
    (
        lambda spec: spec["checks"][1].update(metric="bandwith"),
        "spec.json: $.checks[1].metric: must be one of correctness,",
    ),
    (
        lambda spec: spec["checks"][2].update(zero_at=0.995),
        "spec.json: $.checks[2].zero_at: partial credit runs backwards",
    ),
    (lambda spec: spec["checks"][2].update(points=30), "spec.json: $.checks: the points"),
]


@pytest.mark.parametrize(("change", "complaint"), BROKEN_SPECS)
def test_a_broken_spec_is_named_by_file_and_path(
    change: Change, complaint: str, check: Check, exercise: Path
) -> None:
    edit_spec(exercise, change)
    (exercise.parents[1] / "solutions" / "add_up.cu").unlink()  # it would be graded
    found = check()
    assert not found.sound
    assert complaint in details(found, "spec")


def test_all_that_is_wrong_is_told_at_once(check: Check, exercise: Path) -> None:
    """A wrong spec keeps neither the oracle nor the reference from being tried."""
    for change, _ in BROKEN_SPECS:
        edit_spec(exercise, change)
    replace_in(exercise / "oracle.py", '+ inputs["b"]', '+ inputs["b"][:1000]')
    found = check()
    complaints = details(found, "spec")
    assert all(complaint in complaints for _, complaint in BROKEN_SPECS)
    assert f"{exercise}/oracle.py: line 10: ValueError" in details(found, "oracle")
    assert "$.cases.public[0]" in details(found, "oracle")


def test_a_wrong_reference_is_told_beside_a_wrong_spec(check: Check, exercise: Path) -> None:
    edit_spec(exercise, BROKEN_SPECS[0][0])
    replace_in(exercise.parents[1] / "solutions" / "add_up.cu", "+ b[i]", "- b[i]")
    found = check()
    assert proofs(found) == {"spec": Proof.FAILS, "oracle": Proof.HOLDS, "reference": Proof.FAILS}
    assert f"{exercise.parents[1]}/solutions/add_up.cu" in details(found, "reference")


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ('{"c": inputs["a"][:-1]}', "has the shape"),
        ('{"c": (inputs["a"] + inputs["b"]).astype("int32")}', "has the dtype int32"),
        ('{"d": inputs["a"]}', "'d' is no output"),
        ("1 / 0", "line 10: ZeroDivisionError"),
    ],
)
def test_a_wrong_oracle_is_named_by_file_and_line(
    answer: str, complaint: str, check: Check, exercise: Path
) -> None:
    replace_in(exercise / "oracle.py", '{"c": inputs["a"] + inputs["b"]}', answer)
    found = check()
    assert proofs(found)["oracle"] is Proof.FAILS
    assert f"{exercise}/oracle.py: " in details(found, "oracle")
    assert complaint in details(found, "oracle")


def test_a_reference_that_fails_its_exercise_is_named_with_the_check(
    check: Check, exercise: Path
) -> None:
    starter, solution = (
        exercise.parents[1] / place / "add_up.cu" for place in ("starter", "solutions")
    )
    solution.write_text(starter.read_text())
    found = check()
    assert proofs(found)["reference"] is Proof.FAILS
    assert (
        f"{solution}: misses {exercise}/spec.json: $.checks[1] (global_load_efficiency)"
        in details(found, "reference")
    )


def test_without_a_reference_nothing_shows_that_full_marks_can_be_had(exercise: Path) -> None:
    claim = judge_reference(read_exercise(exercise), None)
    assert claim.proof is Proof.FAILS
    assert claim.found.startswith("there is no solutions/add_up.cu: ")


def test_what_an_exercise_raises_ends_its_gradings(
    exercise: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[Path] = []

    def fail(options: Options, folder: Path, path: Path, **_: object) -> None:
        began.append(path)
        if len(began) > 1:
            time.sleep(0.05)  # none of them ends before the first one's end is known
        raise SpecError([SpecProblem("spec.json", "$.cases", "the oracle fails")])

    monkeypatch.setattr(verdicts, "grade_with", fail)
    shown: list[Progress] = []
    grading = verdicts.Grading(
        read_exercise(exercise), Options("emulated", 5, show=shown.append), 1
    )
    with pytest.raises(SpecError, match="the oracle fails"):
        grading.grade_all({str(n): exercise / f"{n}.cu" for n in range(50)}, "grading")
    assert 1 <= len(began) < 50
    assert [step.done for step in shown] == [0]


def test_what_the_machine_spoils_is_graded_once_more(
    exercise: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = make_failed(Failure(Status.GRADER_ERROR, "the worker did not start"))
    answers = [spoilt, make_graded(), spoilt, spoilt]
    monkeypatch.setattr(verdicts, "grade_with", lambda *_, **__: answers.pop(0))
    grading = verdicts.Grading(read_exercise(exercise), Options("emulated", 5), 1)
    for status in (Status.INCONCLUSIVE, Status.GRADER_ERROR):
        assert grading.grade_all({"it": exercise}, "grading")["it"].status is status
    assert not answers


def test_a_starter_must_run_and_miss_full_marks(check: Check, exercise: Path) -> None:
    starter, solution = (
        exercise.parents[1] / place / "add_up.cu" for place in ("starter", "solutions")
    )
    kernel = solution.read_text().split(">>>(c, a, b, n)")[1]
    text = starter.read_text().split("// Yours.")[0] + kernel
    starter.write_text(
        text.replace(
            "launch: add<<<ceil_div(n, THREADS * EACH)", "launch: add<<<ceil_div(n, THREADS)"
        )
    )
    found = check()
    assert proofs(found)["starter"] is Proof.FAILS
    assert "it gets 100 of 100 points" in details(found, "starter")
    assert proofs(found)["baseline"] is Proof.HOLDS
    starter.write_text(text.replace("int i = blockIdx", "itn i = blockIdx"))
    assert "compile_error" in details(check(), "starter")


def test_known_submissions_must_get_the_verdict_of_their_name(check: Check, exercise: Path) -> None:
    root = exercise.parents[1]
    known = default_submissions(exercise)
    known.mkdir(parents=True)
    solution = (root / "solutions" / "add_up.cu").read_text()
    (known / "passed--one_each.cu").write_text(solution)
    (known / "failed--differences.cu").write_text(solution.replace("+ b[i]", "- b[i]"))
    (known / "failed--loads_beyond.cu").write_text(
        solution.replace("+ b[i]", "+ b[i + 1]")
    )  # a GPU would not notice
    (known / "passed--differences.cu").write_text(solution.replace("+ b[i]", "- b[i]"))
    found = check()
    assert proofs(found)["submissions"] is Proof.FAILS
    assert "3 of 4 do" in details(found, "submissions")
    told = details(found, "submissions")
    assert "passed--differences.cu: failed" in told
    assert "passed--differences.cu: correctness: case one block: 2,047 of 2,048" in told


def test_an_excluded_check_leaves_a_verdict_open(tmp_path: Path) -> None:
    """A GPU judges it, so a file named `failed` may pass the other checks here."""
    file = tmp_path / "failed--slow.cu"
    passed = replace(make_graded(), status=Status.PASSED)
    excluded = with_last(passed, replace(passed.checks[-1], status=CheckStatus.EXCLUDED))
    found = {
        name: verdicts.judge_known(read_exercise(TRANSPOSE), [file], {str(file): score}, tmp_path)
        for name, score in (("all judged", with_all_judged(passed)), ("excluded", excluded))
    }
    assert found["all judged"].proof is Proof.FAILS
    assert found["excluded"].proof is Proof.HOLDS
    assert "1 cannot be decided on this device" in found["excluded"].found


def test_the_command_prints_a_table_and_answers_with_its_exit_code(
    exercise: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["check", str(exercise), "--device", "emulated", "--no-mutants", "--seed", "5"]) == 0
    )
    shown = capsys.readouterr().out
    assert "Margins of the goals" in shown
    assert "add_up is sound" in shown
    edit_spec(exercise, BROKEN_SPECS[1][0])
    assert main(["check", str(exercise), "--device", "emulated", "--no-mutants"]) == 1
    assert "is not sound" in capsys.readouterr().out
    assert main(["check", str(exercise), "--jobs", "0"]) == 2


@pytest.mark.slow
def test_a_mark_that_nothing_needs_is_told(check: Check, exercise: Path) -> None:
    solution = exercise.parents[1] / "solutions" / "add_up.cu"
    replace_in(solution, "    if (i < n)\n", "    if (i < n)  // survives: nobody looks\n")
    found = check(mutants=True)
    assert found.sound
    assert f"{solution}: line 10: no mutant survives here" in details(found, "mutants")


def test_only_all_mutants_show_that_nothing_needs_a_mark(exercise: Path) -> None:
    solution = exercise.parents[1] / "solutions" / "add_up.cu"
    replace_in(solution, "    if (i < n)\n", "    if (i < n)  // survives: nobody looks\n")
    fates = (MutantFate(9, "lost sum", "+= → =", Fate.CAUGHT, "the case small"),)
    for quick, marks in ((False, 1), (True, 0)):
        claim = judge_mutants(read_exercise(exercise), fates, untried="", quick=quick)
        assert (claim.proof, len(claim.details)) == (Proof.HOLDS, marks)
