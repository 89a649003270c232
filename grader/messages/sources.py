"""Sentences for submissions that do not run: mistakes in the text and for the compiler, and the
ends of a batch. One row for each way in which a text is not source, looks for files secretly, or
breaks a rule of its exercise."""

from __future__ import annotations

from collections.abc import Mapping

from grader.cpp.cursor import quote
from grader.records import (
    AtomicUse,
    Breach,
    CompileErrors,
    CompileMistake,
    CompilerEnd,
    CompilerEnded,
    Evaded,
    Evasion,
    Failure,
    ForeignFile,
    GivenUp,
    HeaderUse,
    HeapUse,
    NoKernel,
    NoSource,
    OverBatchLimit,
    ScratchUse,
    SourceMistake,
    TooLargeVariables,
    TooMuchStaticShared,
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


_TOO_MUCH_CODE = (
    "Look for large initialised arrays, template recursion, and unrolled loops that make very much"
    " code."
)
_ENDS: Mapping[CompilerEnd, tuple[str, str]] = {
    CompilerEnd.TOO_SLOW: (
        "The compiler was stopped after {seconds:g} s on {name}.",
        _TOO_MUCH_CODE,
    ),
    CompilerEnd.LARGE_FILE: ("{name} compiles to more than {file} MiB.", _TOO_MUCH_CODE),
    CompilerEnd.OUT_OF_MEMORY: (
        "The compiler needed more than {memory} of memory for {name}.",
        _TOO_MUCH_CODE,
    ),
    CompilerEnd.MUCH_OUTPUT: (
        "The compiler wrote more than {output} MiB of messages on {name}.",
        "",
    ),
    CompilerEnd.UNSHOWN: (
        "{name} does not compile; nvcc's messages lie outside of the file and are not shown.",
        "",
    ),
}
"""Message and advice by the way in which the compiler ended."""

_FIRST_ERROR = "Correct the first error first: the others may follow from it."
_ERRORS: Mapping[str, tuple[str, str]] = {
    "separate compilation mode": (
        "a kernel or __device__ function launches a kernel; dynamic parallelism is not supported",
        "Give each launch a // launch: line, or let one kernel do the work of both.",
    ),
    "Universal character is not allowed in device entity name": (
        "",
        "nvcc accepts only ASCII letters in names of kernels, __device__ functions and variables;"
        " types, namespaces and local variables may have other letters.",
    ),
    "curand_kernel.h": (
        "",
        "The header is in a package of its own: `pip install nvidia-curand` on the machine that"
        " grades.",
    ),
}
"""By a part of the compiler's first error: a message that replaces the error, if any, and
advice."""


def describe_compile_mistake(mistake: CompileMistake) -> Failure:
    """The failure of a submission without machine code."""
    match mistake:
        case CompileErrors(name, error_text, line, quoted):
            known = (_ERRORS[part] for part in _ERRORS if part in error_text)
            instead, advice = next(known, ("", _FIRST_ERROR))
            what = instead or error_text
            message = f"{name} does not compile: {f'line {line}: ' if line else ''}{what}"
            return Failure(mistake.status, message, quoted, advice, line=line)
        case CompilerEnded():
            return _describe_end(mistake)
        case NoKernel(name, written):
            advice = (
                "A template needs an explicit instance, such as `template __global__ void"
                " k<32>(float*, int);`."
                if written
                else "A kernel is a function that begins with `__global__ void`."
            )
            return Failure(mistake.status, f"{name} has no __global__ kernel.", advice=advice)
        case TooMuchStaticShared(kernel, size_bytes, most_bytes, arrays):
            parts = ", ".join(f"{name} {taken:,}" for name, taken in arrays)
            message = (
                f"Kernel {kernel} declares {size_bytes:,} bytes of static __shared__ memory"
                f"{f' ({parts})' if parts else ''}; at most {most_bytes:,} are allowed."
            )
            advice = (
                "Use a smaller tile, or dynamic shared memory (`extern __shared__`, its bytes as"
                " the launch's third argument)."
            )
            return Failure(mistake.status, message, advice=advice)
        case TooLargeVariables(name, size_bytes, most_bytes):
            message = (
                f"The __device__ variables of {name} take {size_bytes:,} bytes; at most"
                f" {most_bytes:,} are allowed."
            )
            advice = (
                "Hand large arrays to the kernel as an argument: `// scratch: float name[n]`"
                " declares an array of n elements."
            )
            return Failure(mistake.status, message, advice=advice)


def _describe_end(ended: CompilerEnded) -> Failure:
    limits = ended.limits
    figures: dict[str, str | int | float] = {
        "name": ended.name,
        "seconds": limits.wall_seconds,
        "file": limits.file_bytes >> 20,
        "memory": f"{limits.memory_bytes / (1 << 30):.3g} GiB",
        "output": limits.output_bytes >> 20,
    }
    message, advice = (text.format_map(figures) for text in _ENDS[ended.how])
    return Failure(ended.status, message, advice=advice)


_ADVICE = "The submission is not the cause: repair the machine, then use --rerun failed."


def describe_ungraded(mistake: OverBatchLimit | GivenUp) -> Failure:
    """The failure in the place of a score."""
    match mistake:
        case OverBatchLimit(seconds):
            return Failure(
                mistake.status,
                f"Grading was stopped after {seconds:.0f} s, the time limit of this batch.",
                advice="Find the slow part: the compilation or the kernels.",
            )
        case GivenUp(tries, error_text, quoted, advice):
            tried = f"It was tried {tries} times"
            message = f"{tried}, and {error_text}." if mistake.lost else f"{tried}: {error_text}"
            return Failure(mistake.status, message, quoted, advice or _ADVICE)
