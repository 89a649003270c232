"""Feedback to hand back: each platform finds its students, and nothing tells of anybody else."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from grader.batch.results import write_summary
from grader.cli import main
from grader.errors import UsageError
from grader.records import BatchEntry, BatchSummary, Score, Status
from grader.report.feedback import format_feedback
from grader.report.platforms.feedback_zip import Content, Packing, guess_packing, pack_feedback
from tests.support.classes import HOSTILE, failed, make_summary, write_class
from tests.support.factories import CROOKED_LINES, make_case, make_graded

SEED = 8_642_097_531


def graded(**options: object) -> Score:
    return replace(make_graded(lines=CROOKED_LINES, **options), seed=SEED)  # type: ignore[arg-type]


def a_class(out: Path, platform: str, *handed_in_as: str) -> BatchSummary:
    scores = [graded() for _ in handed_in_as]
    batch = write_class(out, scores, ["Jane Doe", "John Roe", "Ada Lee"])
    entries = [
        replace(entry, platform=platform, handed_in_as=name, student_id="4711")
        for entry, name in zip(batch.entries, handed_in_as, strict=True)
    ]
    return make_summary(entries)


def unpack(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def participant_of(path: str) -> tuple[str, str]:
    """Who gets a file, and its name there, as Moodle tells by the parts of a path: the first one
    of four or more pieces between underscores whose second one is a number."""
    parts = path.split("/")
    while parts:
        pieces = parts.pop(0).split("_", 4)
        if len(pieces) >= 4 and pieces[1].isdecimal():
            assert pieces[2:4] == ["assignsubmission", "file"]
            rest = [*([pieces[4]] if len(pieces) > 4 and pieces[4] else []), *parts]
            return pieces[1], "/".join(rest)
    raise AssertionError(path)


def test_moodle_finds_the_student_by_the_folder(tmp_path: Path) -> None:
    batch = a_class(
        tmp_path,
        "moodle",
        "Jane Doe_4711_assignsubmission_file_",
        "John Roe_4712_assignsubmission_file",
        "Ada Lee_4713_assignsubmission_file_transpose.cu",
    )
    assert guess_packing(batch) is Packing.MOODLE
    packed = pack_feedback(tmp_path, batch, Packing.MOODLE)
    assert {participant_of(name) for name in unpack(packed.content)} == {
        (number, f"transpose-feedback.{suffix}")
        for number in ("4711", "4712", "4713")
        for suffix in ("html", "md")
    }
    assert (packed.students, packed.files, packed.left_out) == (3, 6, ())


def test_a_roster_names_the_folders_of_those_who_handed_in_elsewhere(tmp_path: Path) -> None:
    batch = write_class(tmp_path, [graded()], ["jane"])
    row = {"Identifier": "Participant 12", "Full name": "Jane_B Doe/x"}
    packed = pack_feedback(
        tmp_path, batch, Packing.MOODLE, find_row=lambda student, student_id: row
    )
    assert {participant_of(name)[0] for name in unpack(packed.content)} == {"12"}
    with pytest.raises(UsageError, match="give its roster"):
        pack_feedback(tmp_path, batch, Packing.MOODLE)


def test_canvas_finds_the_submission_by_the_kept_name(tmp_path: Path) -> None:
    """By the first two pieces that are numbers: the student's, and the attachment's."""
    names = ("doejane_4711_815_transpose.cu", "roejohn_LATE_4712_816_my_transpose-1.cu")
    packed = pack_feedback(tmp_path, a_class(tmp_path, "canvas", *names), Packing.CANVAS)
    numbers = {
        tuple(re.findall(r"(?<![^_])\d+(?![^_])", name)[:2]) for name in unpack(packed.content)
    }
    assert numbers == {("4711", "815"), ("4712", "816")}
    assert "roejohn_LATE_4712_816_my_transpose-1.html" in unpack(packed.content)


def test_nothing_leads_to_the_class_or_tells_of_anybody_else(tmp_path: Path) -> None:
    batch = write_class(tmp_path, [graded(), graded()], ["Jane Doe", "John Roe"])
    same = replace(batch.entries[1], duplicate_of="Jane Doe")
    packed = pack_feedback(tmp_path, make_summary([batch.entries[0], same]), Packing.FOLDERS)
    for name, text in unpack(packed.content).items():
        own = "Jane Doe" if name.startswith("s00000") else "John Roe"
        others = {"Jane Doe", "John Roe"} - {own}
        assert own in text
        assert not [other for other in others if other in text]
        assert "report.html" not in text
        assert str(SEED) not in text
        assert not re.search(r'href="(?!#)', text)


def test_feedback_says_why_with_the_line_and_what_to_try() -> None:
    text = format_feedback(graded(), student="Jane Doe", title="Transpose", notes=["A note."])
    assert text.startswith("# Transpose: ")
    assert "**Why points were lost:** bank conflicts (line 11); stores not coalesced" in text
    assert "| Bank conflicts | failed | 0 of 25 | 3,100 (counted) | == 0 |" in text
    assert "A note." in text
    assert "- **Bank conflicts**: line 11: tile[threadIdx.x][threadIdx.y + j] takes 32" in text


def test_of_a_hidden_case_no_more_is_told_than_its_message() -> None:
    hidden = replace(make_case("primes", passed=False, hidden=True), sizes={"rows": 9973})
    text = format_feedback(graded(cases=(hidden,)), student="j", title="t")
    assert "9973" not in text
    assert "9,973" not in text
    assert "primes" in text


def test_a_failure_is_quoted_in_a_fence_that_nothing_closes() -> None:
    score = failed(Status.COMPILE_ERROR, message="line 3: <b>x</b>", detail="a\n````\n# b")
    text = format_feedback(score, student=HOSTILE, title="t")
    assert "`````text\na\n````\n# b\n`````" in text
    assert "\\<b>x\\</b>" in text
    assert not re.search(r"(?<!\\)<[a-z/!?]", text)


def test_a_failed_grading_is_not_handed_back_and_a_missing_file_is_told(tmp_path: Path) -> None:
    batch = write_class(tmp_path, [graded(), failed(Status.GRADER_ERROR)], ["jane", "joe"])
    nothing = BatchEntry(
        "kim", "transpose", None, None, None, None, 100, None, None, None, None, None, "no .cu file"
    )
    packed = pack_feedback(tmp_path, make_summary([*batch.entries, nothing]), Packing.FOLDERS)
    assert [left.entry.student for left in packed.left_out] == ["joe"]
    assert "no .cu file" in unpack(packed.content)["kim/transpose-feedback.md"]


@pytest.mark.parametrize(
    ("content", "endings"), [(Content.PAGE, {".html"}), (Content.MARKDOWN, {".md"})]
)
def test_one_kind_of_file_alone(tmp_path: Path, content: Content, endings: set[str]) -> None:
    batch = write_class(tmp_path, [graded()])
    packed = pack_feedback(tmp_path, batch, Packing.FOLDERS, content=content)
    assert {Path(name).suffix for name in unpack(packed.content)} == endings


def test_the_command_packs_what_a_batch_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = a_class(tmp_path, "moodle", "Jane Doe_1_assignsubmission_file_")
    write_summary(tmp_path, batch)
    target = tmp_path / "feedback.zip"
    assert main(["feedback", str(tmp_path), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}: 2 files for 1 student, as moodle.\n"
    first = target.read_bytes()
    assert main(["feedback", str(tmp_path), "-o", str(target)]) == 2
    assert main(["feedback", str(tmp_path), "-o", str(target), "--force"]) == 0
    assert target.read_bytes() == first
    capsys.readouterr()
    assert main(["feedback", str(tmp_path), "--format", "canvas", "-o", str(tmp_path / "c")]) == 2
    assert "--format folders" in capsys.readouterr().err
