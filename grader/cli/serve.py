"""`grade serve`: a course in the browser."""

from __future__ import annotations

import argparse
import functools
import os
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from grader.cli.common import (
    Command,
    add_device,
    add_no_isolation,
    add_no_model,
    add_value,
    print_lines,
)
from grader.errors import UsageError

DESCRIPTION = """\
Serve a course: students open an exercise in any browser, write code, and get the verdict of the
grader; instructors manage roster, deadlines and points. It needs the extra `server`:
pip install 'cuda-exercise-grader[server]'
"""
EPILOG = """\
--course names a folder with exercises/ID/ and starter/ID.cu, as `grade new` makes it, or the folder
exercises/ itself. Without it, the server has the exercises of `grade list`.

The first start prints a link: open it to choose the password of the first instructor.

examples:
  grade serve                                    the grader's exercises, for this machine only
  grade serve --course course/ --workers 4
  grade serve --course course/ --host 0.0.0.0 --url https://grade.example.org
                                                 for other machines, behind a proxy with TLS
  grade serve --database postgresql+psycopg://grader@localhost/grader
  grade serve --lti platforms.toml --url https://grade.example.org
                                                 sign-in and points through Moodle or Canvas

The folder of --data contains all accounts, attempts and the secret of hidden cases. Keep it from
students, and back it up. Ctrl-C ends the server; after any end, the same command continues.

exit codes:
  2  bad usage, or a broken exercise
  3  the database does not answer
  130, 143  ended by Ctrl-C or SIGTERM; everything is kept
"""
PORT = 8000
WORKER_DESCRIPTION = """\
Grade attempts of a server on another machine: those that students of `grade serve --gpu-quota N`
send to a GPU, or all others. The worker takes them from the server's database. It needs the extra
`server`.
"""
WORKER_EPILOG = """\
The worker has the same exercises and the same version of the grader as the server. With --queue
server, it grades on the server's device, beside the server's own workers.

examples:
  grade worker --database postgresql+psycopg://grader@server/grader --course course/
  grade worker --database postgresql+psycopg://grader@server/grader --queue server --workers 4
  grade worker --database sqlite:////srv/server-data/course.sqlite --course course/ --device gpu:1
                                                 on the server's own machine

A database in SQLite has at most one worker, for the GPU, on the machine of the server. Ctrl-C ends
the worker; the gradings that it began are graded again.

exit codes:
  2  bad usage, a broken exercise, or other exercises than the server's
  3  the database does not answer, or there is no GPU
  130, 143  ended by Ctrl-C or SIGTERM
"""
WORKER_READY = "{exercises} exercises. The worker takes the attempts for the GPU (Ctrl-C ends it)."
WORKER_OF_SERVER = "{exercises} exercises. The worker takes the server's attempts (Ctrl-C ends it)."
READY = "{exercises} exercises. The server runs at {url} (Ctrl-C ends it)."
LIBRARIES = (
    *("starlette", "uvicorn", "sqlalchemy", "alembic", "argon2", "markdown_it", "jwt"),
    "cryptography",
)


def run_serve(options: argparse.Namespace) -> int:
    """`grade serve`: 0 after it was ended."""
    _check_libraries()
    from grader.grading.grade import choose_device
    from grader.lti import read_platforms
    from grader.server.launch import serve
    from grader.server.records import Settings

    data = Path(options.data).absolute()
    url = options.url or f"http://{_own_host(options.host)}:{options.port}"
    settings = Settings(
        data,
        Path(options.course).absolute() if options.course is not None else None,
        options.database or f"sqlite:///{data / 'course.sqlite'}",
        check_url(url),
        device=str(choose_device(options.device)),
        workers=_default_workers() if options.workers is None else options.workers,
        isolated=not options.no_isolation,
        model=not options.no_model,
        playground=options.playground,
        gpu_quota=options.gpu_quota,
        platforms=read_platforms(Path(options.lti)) if options.lti is not None else (),
    )
    serve(settings, host=options.host, port=options.port, show=print_lines, ready=READY)
    return 0


def _check_libraries() -> None:
    """UsageError if the extra is not installed."""
    from importlib.util import find_spec

    if missing := [name for name in LIBRARIES if find_spec(name) is None]:
        raise UsageError(
            f"`grade serve` needs Python packages that are not installed: {', '.join(missing)}",
            "Install them: python -m pip install 'cuda-exercise-grader[server]'",
        )


def _default_workers() -> int:
    """A grading at a time per core, and a core for the pages."""
    return max(1, len(os.sched_getaffinity(0)) - 1)


def _own_host(host: str) -> str:
    """The name of this machine in the default address. UsageError if other machines are meant."""
    if host in ("127.0.0.1", "::1", "localhost"):
        return "localhost"
    raise UsageError(
        f"--host {host} serves other machines, and their browsers need an address",
        "Give the address that they use: --url https://grade.example.org",
    )


def check_url(url: str) -> str:
    """The address of the server without a path. UsageError for another kind of address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise UsageError(
            f"{url!r} is not the address of a server", "Write it as https://grade.example.org."
        )
    return url.rstrip("/")


def _number(text: str, *, least: int = 0) -> int:
    value = int(text) if text.isascii() and text.isdigit() else -1
    if not least <= value < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least} to 65535")
    return value


_positive = functools.partial(_number, least=1)


def run_worker(options: argparse.Namespace) -> int:
    """`grade worker`: 0 after it was ended."""
    _check_libraries()
    from grader.grading.grade import choose_device
    from grader.server.launch import work
    from grader.server.records import Queue, Settings

    queue = Queue(options.queue)
    with tempfile.TemporaryDirectory(prefix="grade-worker-") as folder:
        settings = Settings(
            Path(folder),
            Path(options.course).absolute() if options.course is not None else None,
            options.database,
            url="",
            device=str(choose_device(options.device)) if queue is Queue.GPU else "",
            workers=options.workers,
            isolated=not options.no_isolation,
            queue=queue,
        )
        ready = WORKER_READY if queue is Queue.GPU else WORKER_OF_SERVER
        work(settings, show=print_lines, ready=ready)
    return 0


def _add_worker_arguments(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--database", "URL", "the database of the server", required=True)
    add_value(parser, "--course", "DIR", "the folder of the exercises, as of the server")
    text = "the attempts for the GPU (default: gpu), or those of the server's own workers (server)"
    queues = ("gpu", "server")
    add_value(parser, "--queue", "gpu|server", text, choices=queues, default="gpu")
    add_value(parser, "--workers", "N", "gradings at the same time", type=_positive, default=1)
    add_device(parser, "for --queue gpu: gpu[:N] (the default), or emulated[:ID]", "gpu")
    add_no_isolation(parser)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--course", "DIR", "the folder of the exercises; see below")
    text = "the folder of accounts and attempts (default: server-data); created if missing"
    add_value(parser, "--data", "DIR", text, default="server-data")
    text = "a database instead of SQLite in --data: a URL of SQLAlchemy"
    add_value(parser, "--database", "URL", text)
    text = (
        "gradings at the same time (default: one per core, without one core); 0: see grade worker"
    )
    add_value(parser, "--workers", "N", text, type=_number)
    text = "the address to listen at (default: 127.0.0.1, only this machine)"
    add_value(parser, "--host", "HOST", text, default="127.0.0.1")
    add_value(parser, "--port", "N", f"the port (default: {PORT})", type=_positive, default=PORT)
    text = "the address that browsers use (default: http://HOST:PORT)"
    add_value(parser, "--url", "URL", text)
    text = "the course platforms that sign students in by LTI 1.3 and get their points (TOML)"
    add_value(parser, "--lti", "FILE", text)
    text = "guests grade and run kernels at /playground without an account, and share them by links"
    parser.add_argument("--playground", action="store_true", help=text)
    text = "attempts that a student can send in 24 hours to the GPU of `grade worker` (default: 0)"
    add_value(parser, "--gpu-quota", "N", text, type=_positive, default=0)
    add_device(parser, "emulated[:ID] (the default), or gpu[:N]", "emulated")
    add_no_isolation(parser)
    add_no_model(parser)


WORKER = Command("worker", run_worker, WORKER_DESCRIPTION, WORKER_EPILOG, _add_worker_arguments)
SERVE = Command("serve", run_serve, DESCRIPTION, EPILOG, _add_arguments)
