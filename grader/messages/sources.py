"""Sentences for mistakes in a submission's text: one row for each way in which it is not source,
looks for files secretly, or breaks a rule of its exercise."""

from __future__ import annotations

from collections.abc import Mapping

from grader.cpp.cursor import quote
from grader.records import (
    AtomicUse,
    Breach,
    Evaded,
    Evasion,
    Failure,
    ForeignFile,
    HeaderUse,
    HeapUse,
    NoSource,
    ScratchUse,
    SourceMistake,
    Unreadable,
    VariableUse,
)

_ONE_FILE = "write everything else in the one file that you hand in."
_ANOTHER_ENCODING = "Save it again with the encoding UTF-8"
_UNREADABLE: Mapping[Unreadable, tuple[str, str]] = {
    Unreadable.TOO_LARGE: (
        "the file is larger than {mebibytes} MiB",
        "Hand in the source file, not a build output.",
    ),
    Unreadable.EMPTY: ("the file is empty", "Save the file, and hand in the .cu source."),
    Unreadable.DOCUMENT: (
        "the file's name is that of a document, not of CUDA source",
        "Hand in the .cu file with the kernel.",
    ),
    Unreadable.UTF16: ("the file is UTF-16, not UTF-8", f"{_ANOTHER_ENCODING}."),
    Unreadable.BINARY: (
        "the file is binary, not CUDA source",
        "Hand in the .cu source, not a compiled file or an archive.",
    ),
    Unreadable.NOT_UTF8: (
        "line {line} is not valid UTF-8",
        f"{_ANOTHER_ENCODING}, or take the special character out.",
    ),
}
_BY_NAME = f"Include the headers that you need, by name; {_ONE_FILE}"
_EVASIONS: Mapping[Evasion, tuple[str, str]] = {
    Evasion.ODD_OPERAND: (
        "asks with __has_include for something else than a plain header's name",
        _BY_NAME,
    ),
    Evasion.MADE_NAME: ("puts the name __has_include together", _BY_NAME),
    Evasion.DEPENDENCY: ("asks with `#pragma GCC dependency` for a file", _BY_NAME),
    Evasion.MADE_DIRECTIVE: (
        "makes a preprocessor directive out of macros",
        "Write #include and #if as they are; a macro cannot stand for them.",
    ),
}


def describe_source_mistake(mistake: SourceMistake) -> Failure:
    """The failure of a mistake in the text."""
    match mistake:
        case NoSource():
            words, advice = _UNREADABLE[mistake.why]
            what = words.format(line=mistake.line, mebibytes=mistake.most_bytes >> 20)
            return Failure(mistake.status, f"{mistake.name}: {what}", advice=advice)
        case ForeignFile():
            message, advice = _describe_file(mistake.file)
            return Failure(mistake.status, message, advice=advice)
        case Evaded():
            words, advice = _EVASIONS[mistake.how]
            return Failure(mistake.status, f"The submission {words}.", advice=advice)
        case Breach():
            owner = "the exercise" if mistake.part is None else f"the part {mistake.part}"
            allowed, found, advice = _describe_use(mistake)
            message = f"{owner} allows {allowed}: {found}"
            return Failure(mistake.status, message, mistake.quoted, advice)


def _describe_file(file: str | None) -> tuple[str, str]:
    """Message and advice for an included file that is not a header."""
    if file is None:
        return (
            "The submission includes a file that belongs neither to the CUDA toolkit nor to the C++"
            " standard library.",
            "Keep everything in one .cu file; include only headers such as <cuda_runtime.h> or"
            " <cstdio>.",
        )
    return (
        f"the submission includes {file!r}, which is no header of CUDA or C++",
        f"Include only headers of the CUDA toolkit and of C++; {_ONE_FILE}",
    )


# --- broken rules: the allowed use, the found use, the advice -------------------------------------


def _describe_use(breach: Breach) -> tuple[str, str, str]:
    match breach.use:
        case HeaderUse(header, name, line):
            who = f"line {line} includes" if line else "another header includes"
            advice = "Write the functions that you need yourself."
            return f"no header of {header}", f"{who} {name}", advice
        case ScratchUse(most, declared, line):
            where = f"line {line}" if line else "the launch plan"
            return (
                _scratch(most),
                f"{where} declares {quote(declared)}",
                "Work in the buffers that you are given, in shared memory and in registers.",
            )
        case HeapUse(most, kernel):
            return (
                _scratch(most),
                f"the kernel {kernel} can call malloc",
                "Take malloc and new out of the file; work in the buffers that you are given.",
            )
        case VariableUse() as use:
            return _describe_variables(use)
        case AtomicUse(shared_too, kernel, opcode, line):
            where = f" in line {line}" if line else ""
            return (
                "no atomics" if shared_too else "no atomics on global memory",
                f"the kernel {kernel} has one{where} ({opcode})",
                "Let each thread write elements of its own.",
            )


def _scratch(most: str) -> str:
    if most.strip() == "0":
        return "no scratch memory"
    return f"no more than {most} bytes of scratch memory"


def _describe_variables(use: VariableUse) -> tuple[str, str, str]:
    allowed = f"no more than {use.most_bytes:,} bytes of" if use.most_bytes else "no"
    mostly = f", most of them declared in line {use.line}" if use.line else ""
    return (
        f"{allowed} __device__ variables",
        f"the kernel {use.kernel} can reach {use.size_bytes:,} bytes of them{mostly}",
        "Make them smaller, or keep their address out of this kernel: from one of them it reaches"
        " all.",
    )
