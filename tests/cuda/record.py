"""Records the programs' output and exit codes on a GPU: `python -m tests.cuda.record FOLDER`.

Builds with the `nvcc` of the PATH, in parallel, and runs the programs in sequence. FOLDER receives
a `.out` file per program and `exit_codes.json`; stderr of all goes to `stderr.txt`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cuda.program_files import PROGRAMS, Program, read_programs

LIMIT_S = 30


def record(folder: Path) -> None:
    """Leaves out programs that do not build or do not end."""
    exit_codes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as temporary, (folder / "stderr.txt").open("w") as log:
        build = Path(temporary) / "programs"
        shutil.copytree(PROGRAMS, build)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            builds = list(pool.map(lambda program: make(program, build), read_programs()))
        for program, built in zip(read_programs(), builds, strict=True):
            log.write(f"== {program.name}\n{built.stderr}")
            if built.returncode:
                print(f"{program.name}: does not build")
                continue
            try:
                ran = run(program, build)
            except subprocess.TimeoutExpired:
                print(f"{program.name}: does not end")
                continue
            log.write(ran.stderr)
            print(f"{program.name}: exit code {ran.returncode}")
            exit_codes[program.name] = ran.returncode
            (folder / f"{program.name}.out").write_text(ran.stdout)
    text = json.dumps(exit_codes, indent=1, sort_keys=True)
    (folder / "exit_codes.json").write_text(text + "\n")


def make(program: Program, build: Path) -> subprocess.CompletedProcess[str]:
    """A folder is built by the first target of its Makefile."""
    if program.is_folder:
        command = ["make", "-s", "-C", program.name]
    else:
        command = ["nvcc", *program.options, "-o", program.name, f"{program.name}.cu"]
        # Options such as -lcuda follow the file: the linker reads in this order.
        command = [*command, *(option for option in program.options if option.startswith("-l"))]
    return subprocess.run(command, cwd=build, text=True, capture_output=True)


def run(program: Program, build: Path) -> subprocess.CompletedProcess[str]:
    """`make test` of a folder, or the executable of a file."""
    if program.is_folder:
        command, cwd = ["make", "-s", "test"], build / program.name
    else:
        command, cwd = [str(build / program.name), *program.arguments], build
    return subprocess.run(
        command, cwd=cwd, text=True, input=program.stdin, capture_output=True, timeout=LIMIT_S
    )


if __name__ == "__main__":
    record(Path(sys.argv[1]))
