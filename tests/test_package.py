"""The package as it is installed: the exercises that it holds, and the students' bundle followed in
a fresh environment and an empty folder."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from setuptools import Distribution

from grader.authoring.autograder import make_wheel
from grader.authoring.handout import make_bundle
from grader.cli import main
from grader.cli.common import find_exercise
from grader.errors import UsageError
from grader.folders import shipped_exercises
from grader.spec.public import public_exercises
from grader.spec.reader import read_exercise

ROOT = Path(__file__).resolve().parents[1]
IDS = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/spec.json"))


@pytest.fixture(scope="module")
def wheel() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(make_wheel()[1])) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_exercises_and_nothing_secret(wheel: dict[str, bytes]) -> None:
    for id_ in IDS:
        folder = f"grader/course/exercises/{id_}"
        spec = json.loads(wheel[f"{folder}/spec.json"])
        cases = spec["program"]["runs"] if "program" in spec else spec["cases"]
        assert cases["hidden"] == []
        assert {
            f"{folder}/oracle.py",
            f"{folder}/README.md",
            f"grader/course/starter/{id_}.cu",
        } <= {*wheel}
        assert (ROOT / "solutions" / f"{id_}.cu").read_bytes() not in wheel.values()
    assert not [name for name in wheel if "solutions" in name]


def test_a_build_puts_the_same_exercises_into_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    made: list[Distribution] = []
    monkeypatch.setattr(
        "setuptools.setup", lambda **how: made.append(Distribution({"packages": [], **how}))
    )
    exec(
        compile((ROOT / "setup.py").read_text(), str(ROOT / "setup.py"), "exec"),
        {"__file__": str(ROOT / "setup.py")},
    )
    command = made[0].get_command_obj("build_py")
    command.build_lib, command.editable_mode = str(tmp_path), False
    command.ensure_finalized()
    command.run()
    course = tmp_path / "grader" / "course"
    built = {
        path.relative_to(course).as_posix(): path.read_bytes()
        for path in course.rglob("*")
        if path.is_file()
    }
    assert built == public_exercises(ROOT)


def test_an_exercise_that_comes_along_is_found_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [folder.name for folder in shipped_exercises()] == IDS
    assert find_exercise("transpose").is_absolute()
    own = tmp_path / "exercises" / "transpose"
    own.mkdir(parents=True)
    assert find_exercise("transpose") == Path("exercises/transpose")
    with pytest.raises(UsageError, match=r"no exercise 'transpos' .*did you mean 'transpose'"):
        find_exercise("transpos")
    assert main(["list"]) == 0
    rows = re.findall(
        r"^ *\d* +(\w+) .* (exercises|the grader's) *$", capsys.readouterr().out, re.M
    )
    places = {id_: "exercises" if id_ == "transpose" else "the grader's" for id_ in IDS}
    assert dict(rows) == places


def test_start_writes_handout_and_starter_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["start", "gemm_register_blocked"]) == 0
    starter = (ROOT / "starter" / "gemm_register_blocked.cu").read_text()
    assert Path("gemm_register_blocked.cu").read_text() == starter
    assert Path("starter/gemm_register_blocked.cu").read_text() == starter
    handout = Path("gemm_register_blocked.md").read_text()
    shown = re.findall(r"\]\((\w+\.svg)\)", handout)
    assert shown
    assert all(Path(name).is_file() for name in shown)
    Path("gemm_register_blocked.cu").write_text("my work")
    assert main(["start", "gemm_register_blocked"]) == 2
    assert "nothing was written" in capsys.readouterr().err
    assert Path("gemm_register_blocked.cu").read_text() == "my work"


def follow(bundle: bytes, home: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Do what HOW_TO_RUN.md says, in an empty folder and a plain environment."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        archive.extractall(home)
    folder = next(home.iterdir())
    guide = (folder / "HOW_TO_RUN.md").read_text()
    (install,) = re.findall(r"^```sh\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    python = f"ln -s {sys.executable} bin/python3"  # the one that runs the tests, by its usual name
    steps = f"mkdir bin; {python}; {install}python -P test.py --device emulated --no-model\n"
    return subprocess.run(
        ["bash", "-e"],
        input=steps,
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name.startswith("PIP_")},
            "HOME": os.environ.get("HOME", "/"),
            "PATH": f"{folder}/bin:/usr/local/bin:/usr/bin:/bin",
            "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"],
            **settings,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_student_can_follow_the_bundle_with_nothing_else(tmp_path: Path) -> None:
    """What the grader depends on is not fetched here: it is found where the tests have it."""
    bundle = make_bundle(read_exercise(ROOT / "exercises" / "transpose"))
    here = sysconfig.get_paths()["purelib"]
    done = follow(bundle, tmp_path, PIP_NO_DEPS="1", PIP_NO_INDEX="1", PYTHONPATH=here)
    assert done.returncode == 1, done.stderr
    assert "✓ Correctness: PASSED\n" in done.stdout
    assert list(tmp_path.glob("transpose/.venv/lib/*/site-packages/grader/course"))


@pytest.mark.slow
def test_the_bundle_installs_all_that_it_needs(tmp_path: Path) -> None:
    done = follow(make_bundle(read_exercise(ROOT / "exercises" / "transpose")), tmp_path)
    assert done.returncode == 1, done.stderr
    assert "✓ Correctness: PASSED\n" in done.stdout


def test_a_course_may_install_by_a_command_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "bundle.zip"
    line = "python -m pip install https://course.example/grader.whl"
    assert (
        main(["handout", str(ROOT / "exercises/transpose"), "-o", str(target), "--install", line])
        == 0
    )
    with zipfile.ZipFile(target) as archive:
        guide = archive.read("transpose/HOW_TO_RUN.md").decode()
        assert f"\n{line}\n" in guide
        assert not [name for name in archive.namelist() if name.endswith(".whl")]
    command = ["handout", str(ROOT / "exercises/transpose"), "-o", str(target), "--force"]
    assert main([*command, "--install", "one\ntwo"]) == 2
    assert "is no command" in capsys.readouterr().err


def test_the_devcontainer_runs_a_script_that_is_there() -> None:
    described = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    script = ROOT / described["postCreateCommand"]
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
