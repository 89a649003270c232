"""What a student sees of the compiler's messages: their own file, their own lines, nothing else of
the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import GraderError
from grader.records import Completed, Failure, RunTool, Status, Submission, ToolLimits
from grader.toolchain.demangle import demangle, parse_signature
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.workspace import SOURCE_NAME

_SHELL_SIGNAL = 128  # nvcc returns 128 + n where signal n ended one of its tools, as a shell does.
_MOST_SHOWN = 20
_WIDEST = 300
_LONGEST = 10_000
"""Characters of a message that are looked at."""
_SEVERITY = r"(?P<severity>(?:fatal |catastrophic |internal )?error|fatal|warning|note|remark)"
_FORMATS = (
    # gcc's preprocessor; cudafe++ and cicc; cicc without a place; ptxas and nvcc.
    re.compile(rf"(?P<file>[^\s:][^:]*):(?P<line>\d{{1,9}})(?::\d+)?: {_SEVERITY}: (?P<text>.*)"),
    re.compile(rf"(?P<file>\S.*?)\((?P<line>\d{{1,9}})\): {_SEVERITY}(?: #[\w-]+)?: (?P<text>.*)"),
    re.compile(rf"At end of source: {_SEVERITY}(?: #[\w-]+)?: (?P<text>.*)"),
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
_FILE_TOO_LARGE = re.compile(
    r"File (?:size limit exceeded|too large)|due to signal 25\b", re.IGNORECASE
)
_TOO_SLOW = re.compile(r"CPU time limit exceeded|due to signal 24\b", re.IGNORECASE)
_UNKNOWN_ARCH = re.compile(
    r"nvcc fatal\s*: (Unsupported gpu architecture '\w+'|Value '\w+' is not defined for option"
    r" 'gpu-architecture')"
)
_TOO_MUCH_SHARED = re.compile(
    r"'(?P<kernel>[^']+)' uses too much shared data \((?P<used>0x[0-9a-f]+) bytes,"
    r" (?P<most>0x[0-9a-f]+) max\)"
)

_TOO_MUCH_CODE = (
    "Look for large initialised arrays, template recursion, and unrolled loops that make very much"
    " code."
)


@dataclass(frozen=True)
class _Message:
    """One message as a tool wrote it, and the lines under it."""

    file: str | None
    line: int | None
    severity: str
    text: str
    below: list[str] = field(default_factory=list)

    @property
    def is_error(self) -> bool:
        return "error" in self.severity or self.severity == "fatal"


def compile_failure(
    completed: Completed, submission: Submission, *, nvcc: Nvcc, limits: ToolLimits, run: RunTool
) -> Failure:
    """Why nvcc made nothing of the submission: a limit that it ran into, or its errors, at most 20.

    Raises GraderError where nvcc does not know the GPU: the grader asked for its architecture, not
    the student.
    """
    output = completed.stderr + completed.stdout
    if unknown := _UNKNOWN_ARCH.fullmatch(output.strip()):
        advice = "Set GRADER_NVCC to the nvcc of a CUDA toolkit that supports this GPU."
        raise GraderError(f"nvcc {nvcc.version} cannot compile for this GPU: {unknown[1]}", advice)
    if failure := _limit_failure(completed, output, submission.name, limits):
        return failure
    errors = _visible_messages(output, submission, nvcc, run, errors=True)
    if not errors:
        return _silent_failure(completed, output, submission.name, limits)
    shared = next(filter(None, (_too_much_shared(message) for message in errors)), None)
    return shared or _compile_error(
        f"{submission.name} does not compile: {_summary(errors[0])}",
        _render(errors, submission),
        "Correct the first error first: the others may follow from it.",
        errors[0].line,
    )


def no_kernel_failure(submission: Submission) -> Failure:
    """The failure of a submission that compiles but holds no kernel."""
    if "__global__" in submission.text:
        advice = (
            "A template needs an explicit instance, such as `template __global__ void k<32>(float*,"
            " int);`."
        )
    else:
        advice = "A kernel is a function that begins with `__global__ void`."
    return _compile_error(f"{submission.name} has no __global__ kernel.", advice=advice)


def too_many_variables_failure(submission: Submission, size_bytes: int, most_bytes: int) -> Failure:
    """The failure of a submission with more `__device__` variables than the tools can take."""
    return _compile_error(
        f"The __device__ variables of {submission.name} take {size_bytes:,} bytes; {most_bytes:,}"
        " are the most.",
        advice=(
            "Hand large arrays to the kernel as an argument: `// scratch: float name[n]` declares"
            " one of the size that is needed."
        ),
    )


def clean_warnings(
    completed: Completed, submission: Submission, *, nvcc: Nvcc, run: RunTool
) -> str:
    """The warnings that lie in the submission, at most 20, each with its source line; empty when
    there is none."""
    messages = _visible_messages(
        completed.stderr + completed.stdout, submission, nvcc, run, errors=False
    )
    return _render([message for message in messages if message.line is not None], submission)


def _compile_error(
    message: str, detail: str = "", advice: str = "", line: int | None = None
) -> Failure:
    return Failure(Status.COMPILE_ERROR, message, detail, advice, line=line)


def _limit_failure(
    completed: Completed, output: str, name: str, limits: ToolLimits
) -> Failure | None:
    if completed.limit == "time" or _TOO_SLOW.search(output):
        return Failure(
            Status.TIMEOUT,
            f"The compiler was stopped after {limits.wall_seconds:g} s on {name}.",
            advice=_TOO_MUCH_CODE,
        )
    if _FILE_TOO_LARGE.search(output):
        return _compile_error(
            f"{name} compiles to more than {limits.file_bytes >> 20} MiB.", advice=_TOO_MUCH_CODE
        )
    return None


def _silent_failure(completed: Completed, output: str, name: str, limits: ToolLimits) -> Failure:
    """The failure of a run that left no error to show."""
    memory = f"{limits.memory_bytes / (1 << 30):.3g} GiB of memory"
    if _OUT_OF_MEMORY.search(output):
        return _compile_error(
            f"The compiler needed more than {memory} for {name}.", advice=_TOO_MUCH_CODE
        )
    if completed.limit == "output":
        return _compile_error(
            f"The compiler wrote more than {limits.output_bytes >> 20} MiB of messages on {name}."
        )
    if completed.returncode < 0 or completed.returncode > _SHELL_SIGNAL:
        number = abs(completed.returncode) % _SHELL_SIGNAL
        advice = f"It may have run out of its {memory}; take parts of the code away to find out."
        return _compile_error(f"The compiler crashed on {name} (signal {number}).", advice=advice)
    return _compile_error(
        f"{name} does not compile; nvcc's messages lie outside of the file and are not shown."
    )


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
                )
            )
        elif messages:
            messages[-1].below.append(line)
    return messages


def _place_in_submission(message: _Message, submission: Submission, nvcc: Nvcc) -> _Message | None:
    """The message with its line in the submission: of a header's message the line that led there,
    without the path.

    None for a file that is neither the submission nor under the include roots: its contents are
    nobody's business. A name or a line number that only a `#line` directive can have made is left
    out.
    """
    file = message.file or SOURCE_NAME
    if file == SOURCE_NAME:
        exists = message.line is not None and message.line <= len(submission.lines)
        return replace(message, line=message.line if exists else None)
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


def _without_paths(text: str, submission: Submission) -> str:
    """`text` with absolute paths cut to their last part, but for those that the student wrote."""
    text = text.replace(SOURCE_NAME, submission.name)
    return _ABSOLUTE_PATH.sub(
        lambda match: match.group() if match.group() in submission.text else match.group(1), text
    )


def _too_much_shared(message: _Message) -> Failure | None:
    found = _TOO_MUCH_SHARED.search(message.text)
    if found is None:
        return None
    return too_much_shared_failure(found["kernel"], int(found["used"], 16), int(found["most"], 16))


def too_much_shared_failure(kernel: str, used: int, most: int) -> Failure:
    """The failure of a kernel with more static shared memory than a block can have."""
    return _compile_error(
        f"Kernel {kernel} declares {used:,} bytes of static __shared__ memory; {most:,} are the"
        " most.",
        advice=(
            "Use a smaller tile, or dynamic shared memory (`extern __shared__`, its bytes as the"
            " launch's third argument)."
        ),
    )


def _summary(message: _Message) -> str:
    return f"line {message.line}: {message.text}" if message.line else message.text


def _render(messages: Sequence[_Message], submission: Submission) -> str:
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
