"""The part of the compiler's messages that a student sees: their own file and lines, and no other
file of the machine."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import GraderError
from grader.records import (
    CompileErrors,
    CompilerEnd,
    CompilerEnded,
    Completed,
    RunTool,
    Submission,
    ToolLimits,
    TooMuchStaticShared,
)
from grader.toolchain.demangle import demangle, parse_signature
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.shared_arrays import list_takers
from grader.toolchain.workspace import SOURCE_NAME

_SHELL_SIGNAL = 128  # nvcc returns 128 + n if signal n ended one of its tools, as a shell does.
_SIGNALS = {signal.strsignal(each): int(each) for each in signal.Signals}
_SIGNAL_NAME = re.compile(
    r"^\S+: (?:fatal|internal compiler) error: (?P<name>.*) signal terminated program \S+\n"
    r"(?:compilation terminated\.|Please submit .*\nSee .*)(?:\nnvcc fatal .*)?\n*\Z",
    re.MULTILINE,
)
"""The end of gcc's messages about its programs: no text of a submission follows them."""
_NO_SEMICOLON = 'expected a ";"'
_MOST_SHOWN = 20
_WIDEST = 300
_LONGEST = 10_000
"""Characters of a message that are looked at."""
_SEVERITY = r"(?P<severity>(?:fatal |catastrophic |internal )?error|fatal|warning|note|remark)"
_FORMATS = (
    # gcc's preprocessor; cudafe++ and cicc; cicc without a place; ptxas and nvcc.
    re.compile(rf"(?P<file>[^\s:][^:]*):(?P<line>\d{{1,9}})(?::\d+)?: {_SEVERITY}: (?P<text>.*)"),
    re.compile(rf"(?P<file>\S.*?)\((?P<line>\d{{1,9}})\): {_SEVERITY}(?: #[\w-]+)?: (?P<text>.*)"),
    re.compile(rf"(?P<end>At end of source): {_SEVERITY}(?: #[\w-]+)?: (?P<text>.*)"),
    re.compile(rf"ptxas (?:\S+, line \d+; )?{_SEVERITY}\s*: (?P<text>.*)"),
    re.compile(rf"nvcc {_SEVERITY}\s*: (?P<text>.*)"),
)
_INSTANTIATED_AT = re.compile(rf"\bat line (\d{{1,9}}) of {re.escape(SOURCE_NAME)}$")
_ABSOLUTE_PATH = re.compile(r"(?<![\w./])/(?:[\w.+-]+/)+([\w.+-]*)")
_SYMBOL = re.compile(r"\b_Z\w+")
_AFTERMATH = re.compile(r"Ptx assembly aborted due to errors")
_OUT_OF_MEMORY = re.compile(
    r"out of memory|memory exhausted|cannot allocate memory|bad_alloc", re.IGNORECASE
)
_FILE_TOO_LARGE = re.compile(r"File too large", re.IGNORECASE)
_UNKNOWN_ARCH = re.compile(
    r"nvcc fatal\s*: (Unsupported gpu architecture '\w+'|Value '\w+' is not defined for option"
    r" 'gpu-architecture')"
)
_TOO_MUCH_SHARED = re.compile(
    r"'(?P<kernel>[^']+)' uses too much shared data \((?P<used>0x[0-9a-f]+) bytes,"
    r" (?P<most>0x[0-9a-f]+) max\)"
)


@dataclass(frozen=True)
class _Message:
    """A message as the tool wrote it, and the lines under it. `at_end`: of the submission."""

    file: str | None
    line: int | None
    severity: str
    text: str
    at_end: bool
    below: list[str] = field(default_factory=list)

    @property
    def is_error(self) -> bool:
        return "error" in self.severity or self.severity == "fatal"


def explain_failed_run(
    completed: Completed, submission: Submission, *, nvcc: Nvcc, limits: ToolLimits, run: RunTool
) -> CompileErrors | CompilerEnded | TooMuchStaticShared:
    """Why nvcc made nothing of the submission: a limit that it ran into, or its errors, at most 20.

    Raises GraderError if nvcc does not know the GPU: the grader asked for its architecture, not
    the student.
    """
    output = completed.stderr + completed.stdout
    if unknown := _UNKNOWN_ARCH.fullmatch(output.strip()):
        advice = "Set GRADER_NVCC to the nvcc of a CUDA toolkit that supports this GPU."
        raise GraderError(f"nvcc {nvcc.version} cannot compile for this GPU: {unknown[1]}", advice)
    errors = _visible_messages(output, submission, nvcc, run, errors=True)
    placed = any(error.line for error in errors)
    if not placed and (ended := _find_end(completed, submission.name, limits)):
        return ended
    if not errors:
        return CompilerEnded(submission.name, CompilerEnd.UNSHOWN, limits)
    shared = next(filter(None, (_too_much_shared(message, submission) for message in errors)), None)
    first, quoted = errors[0], _quote(errors, submission)
    return shared or CompileErrors(submission.name, first.text, first.line or None, quoted)


def clean_warnings(
    completed: Completed, submission: Submission, *, nvcc: Nvcc, run: RunTool
) -> str:
    """The warnings that lie in the submission, at most 20, each with its source line; empty when
    there is none."""
    messages = _visible_messages(
        completed.stderr + completed.stdout, submission, nvcc, run, errors=False
    )
    return _quote([message for message in messages if message.line is not None], submission)


def _find_end(completed: Completed, name: str, limits: ToolLimits) -> CompilerEnded | None:
    """How a run ended that placed no error in the submission: by a limit or a signal."""
    named = _SIGNAL_NAME.search(completed.stderr)
    number = _SIGNALS.get(named["name"], 0) if named else 0
    code = 0 if completed.limit else completed.returncode
    if 0 < (ended := -code if code < 0 else code - _SHELL_SIGNAL) < signal.NSIG:
        number = ended
    output = completed.stderr + completed.stdout
    if _OUT_OF_MEMORY.search(output):
        how = CompilerEnd.OUT_OF_MEMORY
    elif completed.limit == "output":
        how = CompilerEnd.MUCH_OUTPUT
    elif completed.limit == "time" or number == signal.SIGXCPU:
        how = CompilerEnd.TOO_SLOW
    elif number == signal.SIGXFSZ or _FILE_TOO_LARGE.search(output):
        how = CompilerEnd.LARGE_FILE
    elif number:
        how = CompilerEnd.UNSHOWN
    else:
        return None
    return CompilerEnded(name, how, limits, number)


def _visible_messages(
    output: str, submission: Submission, nvcc: Nvcc, run: RunTool, *, errors: bool
) -> list[_Message]:
    """The messages that may be shown, the first of them, which are, in readable words."""
    messages = [
        m
        for m in _parse_messages(output)
        if not _AFTERMATH.search(m.text) and (m.is_error if errors else m.severity == "warning")
    ]
    placed = (_place_in_submission(message, submission, nvcc) for message in messages)
    located = [message for message in placed if message is not None]
    shown = [replace(message, text=message.text[:_LONGEST]) for message in located[:_MOST_SHOWN]]
    names = demangle(
        sorted({symbol for message in shown for symbol in _SYMBOL.findall(message.text)}), run
    )

    def readable(text: str) -> str:
        return _without_paths(
            _SYMBOL.sub(lambda match: parse_signature(names[match.group()]).name, text), submission
        )

    return [
        *(replace(message, text=_shortened(readable(message.text))) for message in shown),
        *located[_MOST_SHOWN:],
    ]


def _parse_messages(output: str) -> list[_Message]:
    messages: list[_Message] = []
    for line in output.splitlines():
        match = next(filter(None, (form.fullmatch(line) for form in _FORMATS)), None)
        if match and not (messages and match["severity"] in ("note", "remark")):
            parts = match.groupdict()
            number = parts.get("line")
            messages.append(
                _Message(
                    parts.get("file"),
                    int(number) if number else None,
                    parts["severity"],
                    parts["text"],
                    at_end="end" in parts,
                )
            )
        elif messages:
            messages[-1].below.append(line)
    return messages


def _place_in_submission(message: _Message, submission: Submission, nvcc: Nvcc) -> _Message | None:
    """The message with its line in the submission: for a header's message the line that led there,
    without the path.

    None for a file that is neither the submission nor under the include roots: its contents stay
    private. A name or a line number that only a `#line` directive can have made is left out.
    """
    if message.at_end:
        text = f"{message.text} at the end of the file"
        return replace(message, line=len(submission.lines), text=text)
    file = message.file or SOURCE_NAME
    if file == SOURCE_NAME:
        if message.line is None or message.line > len(submission.lines):
            return replace(message, line=None)
        return _move_to_omission(message, message.line, submission.lines)
    if "/" not in file:
        return replace(message, line=None)
    if not any(Path(file).resolve().is_relative_to(root) for root in nvcc.include_roots):
        return None
    lines = [
        int(found.group(1)) for line in message.below if (found := _INSTANTIATED_AT.search(line))
    ]
    return replace(
        message, line=lines[-1] if lines else None, text=f"{message.text} (in {Path(file).name})"
    )


def _move_to_omission(message: _Message, line: int, lines: Sequence[str]) -> _Message:
    """A missing semicolon belongs to the end of the line that lacks it; nvcc gives the position of
    the next word."""
    if message.text != _NO_SEMICOLON:
        return message
    above = (n for n in range(line - 1, 0, -1) if lines[n - 1].partition("//")[0].strip())
    before = next(above, None)
    if before is None or lines[before - 1].partition("//")[0].rstrip().endswith(
        (";", "{", "}", ":", ",", "*/")
    ):
        return message
    return replace(message, line=before, text=f"{_NO_SEMICOLON} at the end of the line")


def _without_paths(text: str, submission: Submission) -> str:
    """`text` with absolute paths cut to their last part, except paths that the student wrote."""
    text = text.replace(SOURCE_NAME, submission.name)
    return _ABSOLUTE_PATH.sub(
        lambda match: match.group() if match.group() in submission.text else match.group(1), text
    )


def _too_much_shared(message: _Message, submission: Submission) -> TooMuchStaticShared | None:
    found = _TOO_MUCH_SHARED.search(message.text)
    if found is None:
        return None
    used = int(found["used"], 16)
    arrays = list_takers(submission.text, used)
    return TooMuchStaticShared(found["kernel"], used, int(found["most"], 16), arrays)


def _quote(messages: Sequence[_Message], submission: Submission) -> str:
    """Each message with its source line as the student wrote it (nvcc quotes it with all macros
    expanded), each line once."""
    rows: list[str] = []
    previous = None
    for message in messages[:_MOST_SHOWN]:
        rows.append(
            f"{submission.name}{f':{message.line}' if message.line else ''}: {message.severity}:"
            f" {message.text}"
        )
        if message.line and message.line != previous:
            rows.append(f"    {_shortened(submission.line(message.line))}")
        previous = message.line
    if len(messages) > _MOST_SHOWN:
        rows.append(f"... and {len(messages) - _MOST_SHOWN} more")
    return "\n".join(rows)


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 4] + " ..."
