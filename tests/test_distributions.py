"""The files of each distribution: the table of docs/security.md, compared with real builds."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest

from grader.authoring.autograder import make_wheel, make_workflow
from grader.authoring.handout import make_bundle
from grader.spec.reader import read_exercise
from tests.support.one_wheel import one_wheel  # noqa: F401 - a fixture

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = sorted(path.parent for path in (ROOT / "exercises").glob("*/spec.json"))
Files = Mapping[str, bytes]


def unzip(content: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def build_sdist(tmp_path: Path) -> Files:
    """Of a copy of the repository: the build writes beside its sources."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("grader", "exercises", "starter", "solutions", "tests"):
        skipped = shutil.ignore_patterns("__pycache__", "data", "by_authors")
        shutil.copytree(ROOT / name, tree / name, ignore=skipped)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    command = [sys.executable, "setup.py", "-q", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=tree, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {
            member.name.partition("/")[2]: content.read()
            for member in archive
            if (content := archive.extractfile(member)) is not None
        }


def make_bundles(tmp_path: Path) -> Files:
    found: dict[str, bytes] = {}
    for folder in EXERCISES:
        found |= unzip(make_bundle(read_exercise(folder)))
    return found


def make_classroom(tmp_path: Path) -> Files:
    text = make_workflow(read_exercise(EXERCISES[0]), repository="course/private", ref="main")
    return {"classroom.yml": text.encode()}


def read_container(tmp_path: Path) -> Files:
    return {path.name: path.read_bytes() for path in (ROOT / ".devcontainer").iterdir()}


BUILDS: Mapping[str, Callable[[Path], Files]] = {
    "wheel": lambda tmp_path: unzip(make_wheel()[1]),
    "sdist": build_sdist,
    "bundle": make_bundles,
    "workflow": make_classroom,
    "container": read_container,
}


def allowed() -> dict[str, list[str]]:
    section = (ROOT / "docs" / "security.md").read_text().split("\n## Distributions\n")[1]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line[:1] == "|"]
    return {name: re.findall(r"`([^`]+)`", files) for name, _, files in rows[2:]}


def test_the_table_names_all_distributions() -> None:
    assert allowed().keys() == BUILDS.keys()


@pytest.fixture(scope="module", params=BUILDS)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Files]:
    return request.param, BUILDS[request.param](tmp_path_factory.mktemp(request.param))


def test_a_distribution_holds_only_the_files_of_the_table(built: tuple[str, Files]) -> None:
    name, files = built
    patterns = allowed()[name]
    assert [each for each in files if not any(fnmatch(each, one) for one in patterns)] == []
    unused = [one for one in patterns if not any(fnmatch(each, one) for each in files)]
    assert unused == []


def test_no_distribution_holds_hidden_cases_or_solutions(built: tuple[str, Files]) -> None:
    name, files = built[0], dict(built[1])
    for inner in [each for each in files if each.endswith(".whl")]:
        files |= unzip(files[inner])
    secret = {path.read_bytes() for path in (ROOT / "solutions").iterdir()}
    secret |= {path.read_bytes() for path in (ROOT / "tests" / "submissions").rglob("*.cu")}
    assert [each for each, content in files.items() if content in secret] == []
    specs = [json.loads(content) for each, content in files.items() if each.endswith("/spec.json")]
    for spec in specs:
        tasks = (spec, *spec.get("parts", {}).values())
        runs = [task["program"]["runs"] if "program" in task else task["cases"] for task in tasks]
        assert [each["hidden"] for each in runs] == [[]] * len(tasks)
    assert bool(specs) == (name in ("wheel", "sdist", "bundle"))


def test_the_workflow_reads_a_private_repository_of_the_course() -> None:
    (text,) = make_classroom(ROOT).values()
    assert b"token: ${{ secrets.COURSE_TOKEN || github.token }}" in text
