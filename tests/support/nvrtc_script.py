"""Compiles a file with a libnvrtc: `python nvrtc_script.py LIBRARY FILE OPTION...` writes the cubin
to standard output."""

import ctypes
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def main(argv: Sequence[str]) -> int:
    library, source, options = (
        ctypes.CDLL(argv[0]),
        Path(argv[1]),
        [option.encode() for option in argv[2:]],
    )
    program = ctypes.c_void_p()
    check(
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None
        )
    )
    failed = library.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    if failed:
        sys.stderr.buffer.write(
            read(program, library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog)
        )
        return 1
    sys.stdout.buffer.write(read(program, library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN))
    return 0


def read(program: ctypes.c_void_p, size_of: Callable[..., int], get: Callable[..., int]) -> bytes:
    size = ctypes.c_size_t()
    check(size_of(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    check(get(program, buffer))
    return buffer.raw


def check(result: int) -> None:
    if result:
        sys.exit(f"nvrtcResult {result}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
