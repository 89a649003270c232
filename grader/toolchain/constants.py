"""Asks the compiler for the values of constants and the types that names of a submission stand for,
wherever they are defined.

Behind the last line of the submission each name becomes an argument of a template, which is
instantiated: the symbol of the instance contains the value or the type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.plumbing.cache import cache_key, recall, remember
from grader.records import (
    CompileErrors,
    CompileMistake,
    ForeignFile,
    NoConstant,
    Question,
    Submission,
)
from grader.toolchain.blame import settle
from grader.toolchain.demangle import demangle, parse_signature
from grader.toolchain.dependencies import check_failed_run
from grader.toolchain.diagnostics import explain_failed_run
from grader.toolchain.front_end import PTX_NAME, translate_ready
from grader.toolchain.workspace import Compiler, compile_options, open_workspace, run_nvcc

_ENTRY = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)*\.entry[ \t]+(\w+)", re.MULTILINE)
_INTEGER = re.compile(r"(?:\(.*\))?(?P<value>-?[0-9]+)[uUlL]*")
_BOOLEANS = {"true": 1, "false": 0}


def ask_compiler(
    submission: Submission, questions: Sequence[Question], compiler: Compiler, cache: Path | None
) -> dict[str, int | str] | NoConstant:
    """By its text the integer that each name is, or the name of the type. The submission compiles
    without them; `cache`, a folder, keeps the answers."""
    if not questions:
        return {}
    asked = json.dumps([[each.text, each.may_be_type] for each in questions])
    options = compile_options(compiler.arch)
    key = "names-" + cache_key(submission.text, compiler.nvcc.identity, *options, "", asked)
    if (kept := recall(cache, key, dict[str, int | str])) is not None:
        return kept
    marker = f"grader_name_{submission.sha256[:16]}"
    asking = replace(submission, text=submission.text + _lines_of(questions, marker))
    answer = settle(lambda: _ask(asking, questions, compiler, marker), compiler)
    if not isinstance(answer, dict):
        return _explain(answer, asking, questions)
    remember(cache, key, answer)
    return answer


def _ask(
    asking: Submission, questions: Sequence[Question], compiler: Compiler, marker: str
) -> dict[str, int | str] | CompileMistake | ForeignFile:
    with open_workspace(asking.text) as workspace:
        completed = translate_ready(compiler, workspace) or run_nvcc(
            compiler, workspace, "-ptx", output=PTX_NAME
        )
        if completed.limit is None and completed.returncode == 0:
            ptx = (workspace.out / PTX_NAME).read_text(errors="replace")
            symbols = [symbol for symbol in _ENTRY.findall(ptx) if marker in symbol]
            return _read_answers(questions, tuple(demangle(symbols, compiler.run).values()))
        return check_failed_run(compiler, workspace) or explain_failed_run(
            completed, asking, nvcc=compiler.nvcc, limits=compiler.limits, run=compiler.run
        )


def _explain(
    mistake: CompileMistake | ForeignFile, asking: Submission, questions: Sequence[Question]
) -> NoConstant:
    """Which question the compiler refuses, and why."""
    if not isinstance(mistake, CompileErrors) or mistake.line is None:
        return NoConstant(questions[0].text, "the compiler did not come to an end")
    behind = mistake.line - (len(asking.text.split("\n")) - 1 - len(questions)) - 1
    text = questions[behind].text if 0 <= behind < len(questions) else questions[0].text
    return NoConstant(text, mistake.error_text)


def _lines_of(questions: Sequence[Question], marker: str) -> str:
    """A line per question, after two newlines: if the last line ends in a backslash, it swallows
    the first. The submission cannot contain the marker, which includes its own hash."""
    lines = [
        "\n",
        f"template <int, auto> __global__ void {marker}() {{}}",
        f"template <int, typename> __global__ void {marker}() {{}}",
    ]
    for number, each in enumerate(questions):
        argument = each.text if each.may_be_type else f"(long long)({each.text})"
        lines.append(f"template __global__ void {marker}<{number}, {argument}>();")
    return "\n".join([*lines, ""])


def _read_answers(questions: Sequence[Question], names: Sequence[str]) -> dict[str, int | str]:
    answers: dict[str, int | str] = {}
    for name in names:
        arguments = parse_signature(name).name.partition("<")[2].removesuffix(">")
        number, _, answer = (part.strip() for part in arguments.partition(","))
        integer = _INTEGER.fullmatch(answer)
        value = _BOOLEANS.get(answer) if integer is None else int(integer["value"])
        answers[questions[int(number)].text] = answer if value is None else value
    return answers
