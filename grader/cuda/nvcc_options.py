"""The options of nvcc for a program that runs on the emulated device: removes those that do not
fit, and adds the device's own.

The toolkit of `grade exec` has an `nvcc` that runs this file as a script, without the rest of the
grader. Its first arguments are the real nvcc and the toolkit's folder.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence

ARCH = "GRADER_CUDA_ARCH"
"""The variable with the device's architecture, for example `sm_90`."""
DEFAULT_ARCH = "sm_90"
OWN_FLAGS = "GRADER_NVCC_APPEND_FLAGS"
"""The variable with the user's NVCC_APPEND_FLAGS."""
_ARCHITECTURES = (
    *("-arch", "--gpu-architecture", "-code", "--gpu-code"),
    *("-gencode", "--generate-code"),
)
_RUNTIMES = ("-cudart", "--cudart")
_COMPILERS = ("-ccbin", "--compiler-bindir")
_LINE_INFO = ("-lineinfo", "--generate-line-info")
_DEVICE_DEBUG = ("-G", "--device-debug")
_WITH_VALUE = ("-Xcompiler", "-Xlinker", "-Xptxas", "-Xnvlink", "-Xcudafe", "-o", "-I", "-L", "-D")
"""Their values are no options of nvcc. The other options with values need no such care."""
_RENAMED = {"-lcudart_static": "-lcudart"}


def fit_options(arguments: Sequence[str], arch: str, toolkit: str) -> list[str]:
    """The arguments for this architecture and the toolkit in this folder. A variant of the
    architecture that the arguments name (`sm_90a`) is kept."""
    kept = list(_keep(arguments))
    debug = any(each in _DEVICE_DEBUG for each in kept)
    return [
        f"-arch={_find_variant(arguments, arch)}",
        *("-cudart", "shared", "-g", "--no-compress"),
        *(f"-L{toolkit}/lib64", f"-I{toolkit}/include"),
        *(() if debug else ("-lineinfo",)),
        *kept,
    ]


def _keep(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments that fit. An option and its value are two arguments, or one with a `=`."""
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in _WITH_VALUE and not equals:
            yield argument
            yield from _next(rest)
        elif name in (*_ARCHITECTURES, *_RUNTIMES, *_COMPILERS):
            given = [value] if equals else list(_next(rest))
            if name in _COMPILERS and given and shutil.which(given[0]):
                yield f"{name}={given[0]}"
        elif name not in (*_LINE_INFO, "-g", "--debug", "--no-compress", "-no-compress"):
            yield _RENAMED.get(argument, argument)


def _next(rest: Iterator[str]) -> Iterator[str]:
    value = next(rest, None)
    if value is not None:
        yield value


def _find_variant(arguments: Sequence[str], arch: str) -> str:
    """`sm_90a` where the arguments name it, or `compute_90a`, for `sm_90`."""
    number = arch.removeprefix("sm_")
    named = " ".join(arguments).replace("compute_", "sm_")
    return next(
        (f"sm_{number}{letter}" for letter in "af" if f"sm_{number}{letter}" in named), arch
    )


def main(nvcc: str, toolkit: str, *arguments: str) -> None:
    """Becomes nvcc."""
    options = fit_options(arguments, os.environ.get(ARCH, DEFAULT_ARCH), toolkit)
    os.environ["NVCC_APPEND_FLAGS"] = os.environ.get(OWN_FLAGS, "")
    os.execv(nvcc, [nvcc, *options])


if __name__ == "__main__":
    main(*sys.argv[1:])
