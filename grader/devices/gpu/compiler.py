"""The nvcc for PyCUDA's SourceModule: a script that delivers the machine code that was checked, for
the checked source and options only. It starts no interpreter and no compiler: this would take 0.4 s
for each program."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from grader.records import Binary, Recipe

_SCRIPT = """#!/bin/sh
fail() {{ echo "$1" >&2; exit 1; }}
for file do :; done
case "$*" in {options}*) ;; *) fail "The options are not those of the check: $*" ;; esac
cmp -s "$file" {source} || fail "The source is not the checked source."
{deliver}
"""
_OTHER_CODE = 'fail "The source compiles to other machine code than the checked code."'


def write_compiler(folder: Path, binary: Binary, recipe: Recipe) -> Path:
    """Write the script into the folder. PyCUDA 2022 to 2026 calls it as `nvcc --cubin OPTION...
    -arch ARCH -IFOLDER... FILE.cu`, and reads FILE.cubin."""
    source, cubin, script = (folder / name for name in ("checked.cu", "checked.cubin", "nvcc"))
    source.write_text(recipe.source)
    cubin.write_bytes(binary.cubin)
    is_checked = hashlib.sha256(binary.cubin).hexdigest() == recipe.sha256
    copy = f'exec cp {shlex.quote(str(cubin))} "${{file%.cu}}.cubin"'
    text = _SCRIPT.format(
        options=shlex.quote(" ".join(["--cubin", *recipe.options, "-arch", binary.arch, "-I"])),
        source=shlex.quote(str(source)),
        deliver=copy if is_checked else _OTHER_CODE,
    )
    script.write_text(text)
    script.chmod(0o700)
    return script
