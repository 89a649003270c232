"""Writes two files for editors beside the C++ sources; git ignores them.

python -m grader.emulator.cpp               records.h and compile_commands.json
python -m grader.emulator.cpp --check       compiles all files with warnings as errors instead
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from grader.emulator.cpp import (
    FLAGS,
    SOURCES,
    WARNINGS,
    CompilerFailed,
    load,
    source_files,
)
from grader.emulator.cpp.header import write_header


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m grader.emulator.cpp",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compiler", default="g++")
    options = parser.parse_args(arguments)
    if options.check:
        return _check(options.compiler)
    (SOURCES / "records.h").write_text(write_header(), encoding="utf-8")
    rows = [
        {
            "directory": str(SOURCES),
            "file": str(path),
            "arguments": [options.compiler, *FLAGS, *WARNINGS, f"-I{SOURCES}", "-c", str(path)],
        }
        for path in source_files()
    ]
    (SOURCES / "compile_commands.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


def _check(compiler: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        try:
            load(Path(folder), compiler, (*WARNINGS, "-Werror"))
        except CompilerFailed as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
