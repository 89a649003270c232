"""The oracle of an exercise that grades programs: `expected(args, stdin, files)` of oracle.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.spec.oracle_module import load_module, oracle_error, running
from grader.spec.public import ORACLE_FILE
from grader.spec.whole_program import ProgramInput


def ask_oracle(
    folder: Path, given: ProgramInput, outputs: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """The expected output, and the expected texts of the files `outputs`. SpecError for any
    mistake."""
    path = folder / ORACLE_FILE
    function = getattr(load_module(path), "expected", None)
    if not callable(function):
        raise oracle_error(path, "there is no function expected(args, stdin, files)")
    with running(path):
        answer = function(list(given.arguments), given.stdin, dict(given.files or {}))
    if isinstance(answer, str):
        answer = {"stdout": answer}
    if not isinstance(answer, dict) or not isinstance(answer.get("stdout", ""), str):
        message = 'expected must return a text or {"stdout": text, "files": {name: text}}'
        raise oracle_error(path, message)
    files = answer.get("files", {})
    if not isinstance(files, dict) or sorted(files) != sorted(outputs):
        raise oracle_error(path, f"expected must return the files {', '.join(outputs) or 'none'}")
    return answer.get("stdout", ""), {name: str(files[name]) for name in files}
