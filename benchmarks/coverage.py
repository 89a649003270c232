"""Fraction of the kernels of course and sample repositories that the emulated device supports.

    python benchmarks/coverage.py CHECKOUTS CUBINS [--only OWNER/NAME ...]

benchmarks/coverage.json lists repositories with a commit each, and their files that nvcc compiles
alone for sm_90 with no library besides the toolkit. CHECKOUTS has a clone of each repository at its
commit, in a folder OWNER+NAME:

    git clone https://github.com/siboehm/SGEMM_CUDA 'CHECKOUTS/siboehm+SGEMM_CUDA'

CUBINS keeps compiled files for the next run. Prints, by repository, the number of distinct kernels
in which `grade inspect` finds nothing unknown; then everything unknown, with the number of kernels
that contain it, and of kernels that contain no other unknown. Exit code 1 if a listed file is
absent or does not compile. Needs no GPU. The first run compiles for an hour or more; later runs
take some minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import inspect
from grader.grading.tools import find_toolchain

LIST = Path(__file__).with_name("coverage.json")
ARCH = "sm_90"
OPTIONS = ("-w", f"-arch={ARCH}", "-std=c++17", "-lineinfo", "-cubin")
HEADERS = {"common", "inc", "include", "utils"}
"""Names of folders that become include paths."""
_PLACE = re.compile(r"\[0x[0-9a-f]+\]$")


@dataclass(frozen=True)
class Repository:
    """Files of a repository, by their paths at a commit."""

    name: str
    commit: str
    files: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Name of its folder in checkouts and cubins."""
        return self.name.replace("/", "+")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("cubins", type=Path)
    parser.add_argument("--only", nargs="+", metavar="OWNER/NAME", help="only these repositories")
    options = parser.parse_args()
    repositories = [
        each for each in read_list(LIST) if not options.only or each.name in options.only
    ]
    nvcc = find_toolchain(prefer_wheel=True, cache=None, isolated=False).nvcc.path
    failed: list[str] = []
    kernels: dict[str, dict[str, set[str]]] = {}
    for each in repositories:
        cubins, missing = compile_files(each, options.checkouts, options.cubins, nvcc)
        found, errors = unknown_by_kernel(cubins)
        kernels[each.name] = found
        failed += [f"{each.name}: {what}" for what in (*missing, *errors)]
        print(f"{each.name:44} {format_share(found)}", flush=True)
    together = {f"{name} {kernel}": it for name, of in kernels.items() for kernel, it in of.items()}
    print(f"{'together':44} {format_share(together)}")
    for line in missing_lines(together):
        print(line)
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


def read_list(path: Path) -> list[Repository]:
    """The repositories of a list."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    return [Repository(name, of["commit"], tuple(of["files"])) for name, of in listed.items()]


def compile_files(
    repository: Repository, checkouts: Path, cubins: Path, nvcc: Path
) -> tuple[list[Path], list[str]]:
    """Compiles its files that have no cubin yet. Returns the cubins, and messages about errors."""
    root = checkouts / repository.folder
    kept = cubins / repository.folder
    kept.mkdir(parents=True, exist_ok=True)
    includes = [f"-I{it}" for it in root.rglob("*") if it.is_dir() and it.name.lower() in HEADERS]
    made, missing = [], []
    for file in repository.files:
        cubin = kept / (re.sub(r"[/ ]", "_", file) + ".cubin")
        source = root / file
        if not cubin.exists():
            folders = [*includes, f"-I{source.parent}"]
            done = subprocess.run(
                [str(nvcc), *OPTIONS, *folders, "-o", str(cubin), str(source)],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                cubin.unlink(missing_ok=True)
                missing.append(f"{file}: {done.stderr.strip()[:300]}")
                continue
        made.append(cubin)
    return made, missing


def unknown_by_kernel(cubins: Sequence[Path]) -> tuple[dict[str, set[str]], list[str]]:
    """The unknown instructions by kernel name; and messages about files that cannot be read."""
    listed = inspect(cubins, isolated=False)
    found: dict[str, set[str]] = defaultdict(set)
    for kernel in listed.kernels:
        found[kernel.kernel] |= {_PLACE.sub("[...]", it.instruction) for it in kernel.unsupported}
    return found, [f"{error.file}: {error.message}" for error in listed.errors]


def format_share(kernels: Mapping[str, set[str]]) -> str:
    """Number and fraction of kernels without unknown instructions."""
    known = sum(not unknown for unknown in kernels.values())
    share = 100 * known / len(kernels) if kernels else 0.0
    return f"{known:5} of {len(kernels):5} kernels, {share:5.1f} %"


def missing_lines(kernels: Mapping[str, set[str]]) -> Iterator[str]:
    """Each unknown instruction: kernels that contain it, kernels without another, the first
    kernel."""
    having = Counter(what for unknown in kernels.values() for what in unknown)
    alone = Counter(next(iter(unknown)) for unknown in kernels.values() if len(unknown) == 1)
    for what, count in sorted(having.items(), key=lambda pair: (-alone[pair[0]], -pair[1])):
        first = next(name for name, unknown in kernels.items() if what in unknown)
        yield f"{count:5} {alone[what]:5}  {what}  ({first})"


if __name__ == "__main__":
    sys.exit(main())
