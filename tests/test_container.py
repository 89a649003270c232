"""The Dockerfile makes an image that grades, as root and as another user, and that serves a course
on PostgreSQL.

No image registry is needed: mmdebstrap makes the base image, and buildah builds on it.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.cli import COMMANDS
from tests.support.instant import ROOT
from tests.support.postgres import open_postgres

CERTIFICATES = "/etc/ssl/certs:/etc/ssl/certs:ro"
PACKAGES = "python3,python3-venv,g++,ca-certificates"


@dataclass(frozen=True)
class Buildah:
    """buildah, with its images in a folder of the test."""

    folder: Path

    def command(self, *arguments: str) -> list[str]:
        folders = ("--root", str(self.folder / "root"), "--runroot", str(self.folder / "run"))
        return ["buildah", *folders, "--storage-driver", "vfs", *arguments]

    def __call__(self, *arguments: str, allowed: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True)
        assert done.returncode in allowed, done.stdout + done.stderr
        return done.stdout.strip()


@pytest.fixture
def buildah(tmp_path: Path) -> Buildah:
    for program in ("mmdebstrap", "buildah"):
        if shutil.which(program) is None:
            pytest.skip(f"it needs Debian's {program}")
    return Buildah(tmp_path)


@pytest.mark.container
def test_the_image_grades_and_serves(buildah: Buildah, tmp_path: Path) -> None:
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
        "--build-arg",
        f"EXTRAS={service('grader')['build']['args']['EXTRAS']}",
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
    serve_from(buildah, container, work)


def serve_from(buildah: Buildah, container: str, work: Path) -> None:
    """The server of the image answers, with its tables in a PostgreSQL of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open_postgres() as make:
        url, _, folder = make().partition("?host=")
        command = (
            "timeout",
            "60",
            "grade",
            "serve",
            "--database",
            f"{url}?host=/pg",
            "--port",
            str(port),
        )
        mounts = ("-v", f"{folder}:/pg", "-v", f"{work}:/work", "--workingdir", "/work")
        run = buildah.command("run", "--isolation", "chroot", *mounts, "--user", "1000", container)
        with subprocess.Popen([*run, "--", *command], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                shown = [server.stdout.readline() for _ in range(4)]
                assert "/invitations/" in "".join(shown)
                assert b"Sign in" in read_page(f"http://localhost:{port}/sign-in")
            finally:
                server.kill()


def read_page(address: str) -> bytes:
    """A page of a server that starts."""
    for _ in range(100):
        with contextlib.suppress(urllib.error.URLError), urllib.request.urlopen(address) as answer:
            return bytes(answer.read())
        time.sleep(0.2)
    raise AssertionError(f"no answer from {address}")


# --- compose.yaml ---------------------------------------------------------------------------------


def service(name: str) -> dict[str, Any]:
    """A service of compose.yaml."""
    yaml = pytest.importorskip("yaml", reason="needs the extra `docs`")
    found = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"][name]
    assert isinstance(found, dict)
    return found


def test_the_command_of_compose_is_one_of_the_grader() -> None:
    command = [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", part) for part in service("grader")["command"]]
    options = COMMANDS[command[0]].make_parser().parse_args(command[1:])
    assert options.url == "http://localhost:8000"
    assert service("grader")["ports"] == ["127.0.0.1:8000:8000"]
    assert options.port == 8000
    assert options.data.startswith("/data/")
    assert "data:/data" in service("grader")["volumes"]
    user = service("database")["environment"]["POSTGRES_USER"]
    assert options.database == f"postgresql+psycopg://{user}@database/{user}"


def test_compose_installs_extras_that_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    wanted = service("grader")["build"]["args"]["EXTRAS"].strip("[]").split(",")
    assert set(wanted) <= set(extras)


def test_the_guide_names_every_variable_of_compose() -> None:
    used = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    table = (ROOT / "docs" / "server.md").read_text()
    assert used == {name for name in used if f"| `{name}` |" in table}
    assert len(used) == 3
