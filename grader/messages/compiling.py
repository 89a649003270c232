"""Sentences for submissions that do not compile."""

from __future__ import annotations

from collections.abc import Mapping

from grader.records import (
    CompileErrors,
    CompileMistake,
    CompilerEnd,
    CompilerEnded,
    Failure,
    NoKernel,
    TooLargeVariables,
    TooMuchStaticShared,
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
