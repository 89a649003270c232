"""A PostgreSQL server for tests, in a temporary folder, on a Unix socket."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

OTHER_USER = "nobody"
"""PostgreSQL does not run as root."""


def find_program(name: str) -> str:
    """A program of PostgreSQL; Debian has them in a folder of the version. Skips without it."""
    newest = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))[-1:]
    found = str(newest[0]) if newest else shutil.which(name)
    if found is None:
        pytest.skip("it needs PostgreSQL: apt-get install postgresql")
    return found


@contextlib.contextmanager
def open_postgres() -> Iterator[Callable[[], str]]:
    """A server; the function makes a new database, whose URL it returns, and removes the earlier
    one."""
    psycopg = pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    initdb, postgres = find_program("initdb"), find_program("postgres")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path is short
    folder.chmod(0o755)  # every user may open the socket
    own: Mapping[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:
        other = pwd.getpwnam(OTHER_USER)
        os.chown(folder, other.pw_uid, other.pw_gid)
        own = {**own, "user": other.pw_uid, "group": other.pw_gid, "extra_groups": ()}
    data = str(folder / "data")
    quick = ("-c", "fsync=off", "-c", "listen_addresses=")
    make = [initdb, "-D", data, "-U", "grader", "--auth=trust", "--no-sync", "-E", "UTF8"]
    try:
        subprocess.run(make, check=True, capture_output=True, **own)
        with subprocess.Popen(
            [postgres, "-D", data, "-k", str(folder), *quick],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **own,
        ) as server:
            try:
                yield _make_databases(psycopg, f"host={folder} user=grader", folder)
            finally:
                server.send_signal(signal.SIGQUIT)  # at once: its data are removed
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make_databases(psycopg: Any, address: str, folder: Path) -> Callable[[], str]:  # noqa: ANN401
    numbers = itertools.count(1)

    def connect() -> Any:  # noqa: ANN401
        for _ in range(100):
            with contextlib.suppress(psycopg.OperationalError):
                return psycopg.connect(f"{address} dbname=postgres", autocommit=True)
            time.sleep(0.1)
        raise AssertionError("PostgreSQL does not start")

    def make() -> str:
        number = next(numbers)
        name = f"course{number}"
        with contextlib.closing(connect()) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS course{number - 1} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://grader@/{name}?host={folder}"

    return make
