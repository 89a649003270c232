"""The Dockerfile makes an image that grades, as root and as another user.

No image registry is needed: mmdebstrap makes the base image, and buildah builds on it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.instant import ROOT

CERTIFICATES = "/etc/ssl/certs:/etc/ssl/certs:ro"
PACKAGES = "python3,python3-venv,g++,ca-certificates"

Buildah = Callable[..., str]


@pytest.fixture
def buildah(tmp_path: Path) -> Buildah:
    """Runs buildah with its images in a folder of the test."""
    for program in ("mmdebstrap", "buildah"):
        if shutil.which(program) is None:
            pytest.skip(f"it needs Debian's {program}")
    folders = ("--root", str(tmp_path / "root"), "--runroot", str(tmp_path / "run"))

    def run(*arguments: str, allowed: tuple[int, ...] = (0,)) -> str:
        command = ["buildah", *folders, "--storage-driver", "vfs", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode in allowed, done.stdout + done.stderr
        return done.stdout.strip()

    return run


@pytest.mark.container
def test_the_image_grades(buildah: Buildah, tmp_path: Path) -> None:
    base = tmp_path / "base.tar"
    make = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}"]
    subprocess.run([*make, "bookworm", str(base)], check=True)
    empty = buildah("from", "scratch")
    buildah("add", empty, str(base), "/")
    buildah("commit", empty, "base")
    build = (
        "bud",
        "--isolation",
        "chroot",
        "-v",
        CERTIFICATES,
        "--build-arg",
        "BASE=localhost/base",
    )
    buildah(*build, "-t", "grader", str(ROOT))

    work = tmp_path / "work"
    work.mkdir(mode=0o777)
    work.chmod(0o777)
    shutil.copy(ROOT / "starter/transpose.cu", work)
    container = buildah("from", "grader")
    run = ("run", "--isolation", "chroot", "-v", f"{work}:/work", "--workingdir", "/work")
    for user in ("0", "1000"):
        grade = ("grade", "transpose", "transpose.cu", "--no-model", "--json", f"{user}.json")
        buildah(*run, "--user", user, container, "--", *grade, allowed=(1,))
        score = json.loads((work / f"{user}.json").read_text())
        assert (score["status"], score["score"]) == ("failed", 40)
        assert score["environment"]["device_isolation"]
