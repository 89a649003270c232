"""Makes the autograder zip for Gradescope, with this grader as a wheel made of the installed
package, and the workflow of a GitHub Classroom assignment."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from grader.authoring.bundles import fill_template, make_zip
from grader.errors import GraderError, UsageError
from grader.folders import PACKAGED, shipped_root
from grader.records import PendingRule
from grader.spec.exercise import Exercise
from grader.spec.public import public_exercises

DISTRIBUTION = "cuda-exercise-grader"
_SCRIPTS = ("setup.sh", "run_autograder")
_WHEEL = (
    "Wheel-Version: 1.0\nGenerator: grade gradescope-zip\nRoot-Is-Purelib: true\nTag:"
    " py3-none-any\n"
)
_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def make_autograder(exercise: Exercise, pending: PendingRule | None = None) -> bytes:
    """The zip; `pending` is the rule for pending points. GraderError where the grader is not
    installed with its metadata."""
    name, wheel = make_wheel()
    files = {name: wheel}
    for script in _SCRIPTS:
        rule = f" --pending {pending}" if pending else ""
        text = fill_template(f"gradescope_{script}", id=exercise.id, pending=rule)
        files[script] = text.encode()
    for path in sorted(exercise.folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(exercise.folder).as_posix()
            files[f"exercises/{exercise.id}/{name}"] = path.read_bytes()
    files[f"starter/{exercise.id}.cu"] = exercise.baseline_source.read_bytes()
    return make_zip(files, executable=_SCRIPTS)


def make_wheel() -> tuple[str, bytes]:
    """File name and bytes of a wheel of the running grader, with its exercises
    (packaging.python.org, "Binary distribution format")."""
    try:
        distribution = importlib.metadata.distribution(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError as error:
        raise GraderError(
            "the grader is not installed, so that its dependencies are not known",
            "Install it with pip.",
        ) from error
    stem = f"{DISTRIBUTION.replace('-', '_')}-{distribution.version}"
    package = Path(str(resources.files("grader")))
    files = {
        f"grader/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    course = public_exercises(shipped_root())
    files |= {f"grader/{PACKAGED}/{name}": content for name, content in course.items()}
    # PKG-INFO is beside a checkout.
    described = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO")
    commands = distribution.read_text("entry_points.txt")
    if not described or not commands:
        raise GraderError("the installed grader lacks its metadata", "Install it again with pip.")
    metadata = {"METADATA": described, "WHEEL": _WHEEL, "entry_points.txt": commands}
    files |= {f"{stem}.dist-info/{name}": text.encode() for name, text in metadata.items()}
    record = f"{stem}.dist-info/RECORD"
    files[record] = _make_record(files, record)
    return f"{stem}-py3-none-any.whl", make_zip(files)


def _make_record(files: Mapping[str, bytes], record: str) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow([name, f"sha256={digest}", len(content)])
    writer.writerow([record, "", ""])
    return text.getvalue().encode()


def make_workflow(
    exercise: Exercise, *, repository: str, ref: str, pending: PendingRule | None = None
) -> str:
    """The text of `classroom.yml`; `pending` is the rule for pending points. UsageError where
    repository or ref are not valid names of GitHub."""
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError(
            f"--repository {repository!r} is not of the form OWNER/NAME",
            "Name the course's copy of the grader on GitHub.",
        )
    if not _REF.fullmatch(ref):
        raise UsageError(
            f"--ref {ref!r} is no branch, tag or commit", "Name one of the repository's."
        )
    return fill_template(
        "classroom.yml",
        id=exercise.id,
        repository=repository,
        ref=ref,
        points=f"{exercise.max_score:g}",
        pending=pending or "",
    )
