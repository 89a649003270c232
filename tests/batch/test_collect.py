"""Submissions as platforms export them: whose they are, and which file counts."""

from __future__ import annotations

import os
import socket
import stat
import warnings
import zipfile
from pathlib import Path

import pytest

from grader.batch.archives import MAX_FILE_BYTES, extract_zip
from grader.batch.collect import HandIn, collect
from grader.batch.items import match_files
from grader.errors import UsageError

CODE = "__global__ void k() {}\n"


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CODE)
    return folder


def students(folder: Path) -> dict[str, tuple[str | None, str | None, list[str]]]:
    return {
        each.student: (each.student_id, each.platform, sorted(each.files))
        for each in collect(folder)
    }


def test_a_folder_of_files(tmp_path: Path) -> None:
    make(tmp_path, "zoe.cu", "jane.cu", "notes.txt", ".hidden.cu")
    assert students(tmp_path) == {
        "hidden": (None, None, []),
        "jane": (None, None, ["jane.cu"]),
        "zoe": (None, None, ["zoe.cu"]),
    }


def test_a_folder_per_student_also_with_folders_in_it(tmp_path: Path) -> None:
    make(tmp_path, "jane/transpose.cu", "zoe/src/transpose.cu", "zoe/src/gemm.cu", "max/readme.md")
    found = students(tmp_path)
    assert found["zoe"] == (None, None, ["src/gemm.cu", "src/transpose.cu"])
    assert found["max"] == (None, None, [])


def test_canvas_names(tmp_path: Path) -> None:
    make(
        tmp_path,
        "doejane_4711_815_transpose.cu",
        "doejane_4711_816_gemm_tiled-1.cu",
        "roezoe_LATE_4712_99_transpose-2.cu",
    )
    assert students(tmp_path) == {
        "doejane": ("4711", "canvas", ["gemm_tiled-1.cu", "transpose.cu"]),
        "roezoe": ("4712", "canvas", ["transpose-2.cu"]),
    }


def test_moodle_folders_and_files(tmp_path: Path) -> None:
    make(
        tmp_path,
        "Jane Doe_4711_assignsubmission_file_/transpose.cu",
        "Zoë Roe_4712_assignsubmission_file_my_transpose.cu",
    )
    assert students(tmp_path) == {
        "Jane Doe": ("4711", "moodle", ["transpose.cu"]),
        "Zoë Roe": ("4712", "moodle", ["my_transpose.cu"]),
    }


def test_gradescope_folders_bear_the_names_of_the_metadata(tmp_path: Path) -> None:
    make(
        tmp_path,
        "assignment_1_export/submission_7/transpose.cu",
        "assignment_1_export/submission_8/transpose.cu",
    )
    (tmp_path / "assignment_1_export" / "submission_metadata.yml").write_text(
        "---\nsubmission_7:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '1'\n  :score: 3\n"
        "submission_9:\n  :submitters:\n  - :name: Max\n"
    )
    assert students(tmp_path) == {
        "Jane Doe": ("7", "gradescope", ["transpose.cu"]),
        "submission_8": ("8", "gradescope", ["transpose.cu"]),
    }


def test_students_of_equal_names_are_told_apart(tmp_path: Path) -> None:
    make(
        tmp_path, "Jane Doe_1_assignsubmission_file_/a.cu", "Jane Doe_2_assignsubmission_file_/a.cu"
    )
    assert list(students(tmp_path)) == ["Jane Doe", "Jane Doe (2)"]


def test_what_is_no_file_is_set_aside_with_the_reason(tmp_path: Path) -> None:
    subs = make(
        tmp_path / "subs", "jane.cu", "._jane.cu", ".kim/transpose.cu", "lee/transpose.cu", ".git/x"
    )
    make(tmp_path, "secret.cu")
    for name in ("zoe.cu", "lee/other.cu"):
        (subs / name).symlink_to(tmp_path / "secret.cu")
    (subs / "max").symlink_to(tmp_path)
    os.mkfifo(subs / "ann.cu")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(subs / "bob.cu"))
    found = {each.student: each for each in collect(subs)}
    link, no_file = "it is a symbolic link, and links are not followed", "it is a pipe, a socket"
    assert {name: dict(each.set_aside) for name, each in found.items()} == {
        "ann": {"ann.cu": f"{no_file} or a device"},
        "bob": {"bob.cu": f"{no_file} or a device"},
        "jane": {"._jane.cu": "its name begins with a dot"},
        "kim": {".kim": "its name begins with a dot"},
        "lee": {"other.cu": link},
        "max": {"max": link},
        "zoe": {"zoe.cu": link},
    }
    assert [name for name, each in found.items() if each.files] == ["jane", "lee"]


@pytest.mark.skipif(os.geteuid() != 0, reason="takes another user's rights, which only root may")
def test_a_folder_that_cannot_be_read_is_set_aside_with_the_reason(tmp_path: Path) -> None:
    subs = make(tmp_path / "subs", "jane/transpose.cu", "zoe/transpose.cu", "zoe/old/gemm.cu")
    for folder in [tmp_path, *tmp_path.parents][:-2]:
        folder.chmod(folder.stat().st_mode | 0o55)
    (subs / "jane").chmod(0o700)
    (subs / "zoe" / "old").chmod(0o700)
    os.seteuid(65534)
    try:
        found = {each.student: each.set_aside for each in collect(subs)}
    finally:
        os.seteuid(0)
    denied = "it cannot be read: Permission denied"
    assert found == {"jane": {"jane": denied}, "zoe": {"old": denied}}


def test_a_folder_without_submissions_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no \.cu file"):
        collect(make(tmp_path, "readme.md"))


@pytest.mark.parametrize(
    ("files", "exercises", "expected"),
    [
        (["anything.cu"], ["transpose"], {"transpose": "anything.cu"}),
        (["transpose.cu", "old.cu"], ["transpose"], {"transpose": "transpose.cu"}),
        (
            ["transpose.cu", "transpose-1.cu", "transpose-2.cu"],
            ["transpose"],
            {"transpose": "transpose.cu"},
        ),
        (
            ["mine_transpose-1.cu", "mine_transpose-2.cu"],
            ["transpose"],
            {"transpose": "mine_transpose-2.cu"},
        ),
        (
            ["a/Transpose.cu", "Gemm-Tiled (1).cu"],
            ["transpose", "gemm_tiled"],
            {"transpose": "a/Transpose.cu", "gemm_tiled": "Gemm-Tiled (1).cu"},
        ),
        (
            ["gemm_tiled_in_place.cu"],
            ["gemm", "gemm_tiled"],
            {"gemm": None, "gemm_tiled": "gemm_tiled_in_place.cu"},
        ),
        (["a.cu", "b.cu"], ["transpose"], {"transpose": None}),
        (["only.cu"], ["transpose", "gemm"], {"transpose": None, "gemm": None}),
    ],
)
def test_which_file_is_for_which_exercise(
    files: list[str], exercises: list[str], expected: dict[str, str | None]
) -> None:
    matched = match_files(HandIn("jane", files={name: Path(name) for name in files}), exercises)
    assert {exercise: each.name for exercise, each in matched.items()} == expected
    assert all(each.problem for each in matched.values() if each.name is None)


def pack(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_zip_is_unpacked(tmp_path: Path) -> None:
    members = {
        "all/jane/t.cu": CODE,
        "all/zoe/t.cu": CODE,
        "__MACOSX/all/._t.cu": "x",
        "big.bin": "x",
    }
    extract_zip(pack(tmp_path / "a.zip", **members), tmp_path / "out")
    assert list(students(tmp_path / "out")) == ["jane", "zoe"]
    assert not (tmp_path / "out" / "big.bin").exists()


@pytest.mark.parametrize(
    "name", ["../evil.cu", "a/../../evil.cu", "/evil.cu", "..\\evil.cu", "C:/evil.cu"]
)
def test_a_member_that_leads_out_of_the_folder_is_set_aside(tmp_path: Path, name: str) -> None:
    (bad,) = extract_zip(
        pack(tmp_path / "a.zip", **{name: CODE, "jane.cu": CODE}), tmp_path / "out"
    )
    assert (bad.name, bad.place) == (name, None)
    assert "leads out" in bad.reason
    assert not list(tmp_path.rglob("evil.cu"))
    assert list(students(tmp_path / "out")) == ["jane"]


def test_a_member_without_a_name_is_set_aside(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        with archive.open(zipfile.ZipInfo(""), "w") as member:
            member.write(CODE.encode())
        archive.writestr("jane.cu", CODE)
    (bad,) = extract_zip(tmp_path / "a.zip", tmp_path / "out")
    assert (bad.name, bad.reason) == ("", "it has no name")
    assert list(students(tmp_path / "out")) == ["jane"]


def test_odd_names_that_a_file_can_have_are_graded(tmp_path: Path) -> None:
    names = [
        "lab 3: transpose/t.cu",
        "a\x1b[31m\n\tb/t.cu",
        "-rf/t.cu",
        "Zoë 学生/t.cu",
        "a\\b/t.cu",
        "./dot/t.cu",
        "x//t.cu",
    ]
    assert (
        extract_zip(pack(tmp_path / "a.zip", **dict.fromkeys(names, CODE)), tmp_path / "out") == ()
    )
    assert len(students(tmp_path / "out")) == len(names)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("z" * 300 + ".cu", "cannot have this name"),
        ("zoe/" + "z" * 300 + ".cu", "cannot have this name"),
        ("jane.cu/t.cu", "the name of its folder"),
        ("jane.cu", "another member has its name"),
    ],
)
def test_a_member_whose_name_cannot_be_had_is_set_aside(
    tmp_path: Path, bad: str, reason: str
) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile's own, of two members of one name
        archive.writestr("jane.cu", CODE)
        archive.writestr(bad, "// another")
    (aside,) = extract_zip(tmp_path / "a.zip", tmp_path / "out")
    assert aside.name == bad
    assert reason in aside.reason
    found = collect(tmp_path / "out", {aside.place: aside.reason} if aside.place else {})
    assert {each.student: len(each.files) for each in found if each.files} == {"jane": 1}
    assert [each.set_aside for each in found if each.set_aside]  # whose it is, is known
    assert (tmp_path / "out" / "jane.cu").read_text() == CODE


def test_a_zip_bomb_is_set_aside_and_its_owner_is_told(tmp_path: Path) -> None:
    (bad,) = extract_zip(
        pack(tmp_path / "a.zip", **{"bomb.cu": "\0" * (MAX_FILE_BYTES + 1), "jane.cu": CODE}),
        tmp_path / "out",
    )
    assert "too large" in bad.reason
    assert bad.place is not None
    bomb, jane = collect(tmp_path / "out", {bad.place: bad.reason})
    assert (bomb.student, jane.student) == ("bomb", "jane")
    assert (
        "bomb.cu was set aside: it is too large"
        in match_files(bomb, ["transpose"])["transpose"].problem
    )
    assert match_files(jane, ["transpose"])["transpose"].path is not None


def test_a_broken_and_an_encrypted_member_are_set_aside(tmp_path: Path) -> None:
    archive = pack(
        tmp_path / "a.zip", **{"broken.cu": CODE * 9, "encrypted.cu": CODE, "jane.cu": CODE}
    )
    content = bytearray(archive.read_bytes())
    content[content.index(b"broken.cu") + len("broken.cu") + 4] ^= 0xFF
    content[content.rindex(b"encrypted.cu") - 46 + 8] |= (
        1  # the flags in its entry of the directory
    )
    archive.write_bytes(content)
    aside = extract_zip(archive, tmp_path / "out")
    assert [(each.name, each.reason.partition(":")[0]) for each in aside] == [
        ("broken.cu", "it cannot be unpacked"),
        ("encrypted.cu", "it is encrypted"),
    ]
    found = collect(tmp_path / "out", {each.place: each.reason for each in aside if each.place})
    assert {each.student: len(each.files) for each in found} == {
        "broken": 0,
        "encrypted": 0,
        "jane": 1,
    }


def test_a_link_in_a_zip_stays_packed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.cu")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("jane.cu", CODE)
    extract_zip(tmp_path / "a.zip", tmp_path / "out")
    assert {name: files for name, (_, _, files) in students(tmp_path / "out").items()} == {
        "jane": ["jane.cu"],
        "link": ["link.cu"],  # empty, and set aside by the caller
    }
    assert (tmp_path / "out" / "link.cu").read_bytes() == b""


def test_what_is_no_zip_is_bad_usage(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no zip")
    with pytest.raises(UsageError, match="not a readable zip"):
        extract_zip(tmp_path / "a.zip", tmp_path / "out")
