"""Programs of the tests, compiled once for each version of their source."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from grader.cuda.compile_program import make_toolkit
from grader.cuda.nvcc_options import DEFAULT_ARCH
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_key, default_cache


def compile_program(source: Path, options: Sequence[str] = ()) -> Path:
    """The path of the program, in the cache of the grader."""
    cache = default_cache(os.environ)
    toolkit = make_toolkit(find_toolchain(prefer_wheel=True, cache=cache).nvcc, cache)
    folder = cache / "test-programs"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{source.stem}-{os.getpid()}"
    command = toolkit.compile_command([str(source)], options, DEFAULT_ARCH, made)
    texts = [path.read_text(encoding="utf-8") for path in (source, *source.parent.glob("*.h"))]
    words = [word.replace(str(toolkit.folder), "") for word in command[:-1]]
    program = folder / f"{source.stem}-{cache_key(*words, toolkit.folder.name, *texts)[:16]}"
    if not program.exists():
        subprocess.run(command, check=True)
        made.rename(program)
    return program
