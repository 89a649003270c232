"""Names for a leaderboard: drawn at random once per student and kept. A name reveals nothing about
the student."""

from __future__ import annotations

import csv
import io
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.batch.whole_files import replace_file
from grader.errors import UsageError

HANDLES = "leaderboard-names.csv"
_ADJECTIVES = """
amber brisk calm clever coral crisp daring dusky eager early fair fleet fresh gentle golden grand
green happy hardy indigo ivory jolly keen kind light lively lucky mellow merry misty nimble noble
olive pearl plain proud quick quiet rapid rosy royal ruby sharp silver sleek smart solid steady
sunny swift tidy vivid warm wise
"""
_ANIMALS = """
badger beaver bison bream carp cobra condor crane dingo dolphin eagle egret falcon ferret finch
fox gecko goose heron hornet ibis jackal jaguar kestrel koala lark lemur linnet lynx magpie marlin
marten mole newt ocelot orca osprey otter owl panda perch pike plover puffin quail raven robin
salmon seal shrew stork swan tapir tern toad trout viper walrus wombat wren
"""
_GUARDED = re.compile(r"\A'(?=[=+\-@])")
_ESCAPED = re.compile(r"\\(?:\\|[nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def read_handles(out: Path) -> dict[str, str]:
    """The kept names by student; empty before the first leaderboard."""
    path = out / HANDLES
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
        return {_read_name(row["student"]): row["name"] for row in rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"{path} cannot be read: {error!r}", "It has the columns student and name."
        ) from error


def give_handles(out: Path, students: Sequence[str]) -> Mapping[str, str]:
    """A unique name for each student, the same in every run. Writes them to the batch's folder,
    readable by the owner only."""
    handles = read_handles(out)
    taken = set(handles.values())
    for student in students:
        while student not in handles:
            words = (secrets.choice(each.split()) for each in (_ADJECTIVES, _ANIMALS))
            name = f"{' '.join(words)} {10 + secrets.randbelow(90)}"
            if name not in taken:
                taken.add(name)
                handles[student] = name
    text = io.StringIO(newline="")
    rows = [(_guard(student), name) for student, name in sorted(handles.items())]
    csv.writer(text, lineterminator="\n").writerows([("student", "name"), *rows])
    replace_file(out / HANDLES, text.getvalue().encode("utf-8", "surrogateescape"))
    (out / HANDLES).chmod(0o600)
    return handles


def _guard(student: str) -> str:
    """The name with control characters as escapes; no spreadsheet evaluates it as a formula."""
    plain = "".join(
        each if each.isprintable() and each != "\\" else each.encode("unicode_escape").decode()
        for each in student
    )
    return f"'{plain}" if plain.startswith(("=", "+", "-", "@")) else plain


def _read_name(cell: str) -> str:
    plain = _GUARDED.sub("", cell)
    return _ESCAPED.sub(lambda found: found[0].encode().decode("unicode_escape"), plain)
