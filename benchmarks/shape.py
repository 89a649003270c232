"""Size and complexity of the code, and duplicates.

    python benchmarks/shape.py [--formatted] [REVISION ...]

Prints a column per revision (`git archive`), and a last column for the working tree. `--formatted`
first formats a copy of every revision with the working tree's `ruff format`, to make revisions with
longer lines comparable. Complexity and parameters are ruff's C901 and PLR0913 over `grader/`. A
duplicate is a run of at least ten lines, without blank lines, imports and docstrings, that occurs
in two places of `grader/`.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG_FUNCTION, LONG_LINE, RUN = 60, 100, 10
MOST_COMPLEXITY, MOST_PARAMETERS = 15, 8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revisions", nargs="*", metavar="REVISION")
    parser.add_argument("--formatted", action="store_true", help="format every column alike first")
    options = parser.parse_args()
    columns: dict[str, dict[str, int]] = {}
    for revision in [*options.revisions, ""]:
        with tempfile.TemporaryDirectory() as name:
            tree = unpack(revision, Path(name))
            if options.formatted:
                ruff("format", "--quiet", "--config", str(ROOT / "pyproject.toml"), str(tree))
            columns[revision or "now"] = measure(tree)
    show(columns)


def unpack(revision: str, folder: Path) -> Path:
    """A copy of `grader/`, `tests/` and `benchmarks/` at a revision, or of the working tree."""
    places = ["grader", "tests", "benchmarks"]
    if not revision:
        revision = git("stash", "create").decode().strip() or "HEAD"
    archive = git("archive", revision, *places)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout


def ruff(*arguments: str) -> str:
    """The output of ruff, which exits with 1 if it finds anything."""
    command = [sys.executable, "-m", "ruff", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def measure(tree: Path) -> dict[str, int]:
    """The figures of a tree, by name."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(tree.rglob("*.py"))}
    source = {path: text for path, text in texts.items() if path.is_relative_to(tree / "grader")}
    tests = [text for path, text in texts.items() if path.is_relative_to(tree / "tests")]
    other = [
        path.read_text(encoding="utf-8")
        for pattern in ("*.cpp", "*.h")
        for path in (tree / "grader").rglob(pattern)
    ]
    lengths = [length for text in source.values() for length in function_lengths(text)]
    lines = sum(map(count_lines, [*source.values(), *other]))
    complexity, parameters = lint(tree / "grader")
    return {
        "files in grader/": len(source) + len(other),
        "lines in grader/ (Python, C++)": lines,
        "characters in grader/": sum(map(len, [*source.values(), *other])),
        "longest file, lines": max(map(count_lines, source.values())),
        "functions": len(lengths),
        "longest function, lines": max(lengths),
        f"functions over {LONG_FUNCTION} lines": sum(each > LONG_FUNCTION for each in lengths),
        "most complex function": max(complexity, default=0),
        f"functions over complexity {MOST_COMPLEXITY}": sum(
            each > MOST_COMPLEXITY for each in complexity
        ),
        "most parameters": max(parameters, default=0),
        f"functions over {MOST_PARAMETERS} parameters": sum(
            each > MOST_PARAMETERS for each in parameters
        ),
        f"lines over {LONG_LINE} columns": sum(
            len(line) > LONG_LINE for text in source.values() for line in text.splitlines()
        ),
        f"runs of {RUN} equal lines": count_duplicates(source),
        "file stems used twice": count_equal_stems(source),
        "lines of tests (Python)": sum(map(count_lines, tests)),
        "lines of tests for 100 of source": 100 * sum(map(count_lines, tests)) // lines,
    }


def count_lines(text: str) -> int:
    return len(text.splitlines())


def function_lengths(text: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def lint(folder: Path) -> tuple[list[int], list[int]]:
    """The complexity of each function above 5, and the parameters of each with more than 5."""
    limits = [
        *("--config", "lint.mccabe.max-complexity=5"),
        *("--config", "lint.pylint.max-args=5"),
    ]
    found = json.loads(
        ruff(
            *("check", "--isolated", "--ignore-noqa", "--select", "C901,PLR0913"),
            *("--output-format", "json", *limits, str(folder)),
        )
    )
    numbers: dict[str, list[int]] = defaultdict(list)
    for each in found:
        inside = each["message"].rpartition("(")[2]
        numbers[each["code"]].append(int(inside.split(" ")[0]))
    return numbers["C901"], numbers["PLR0913"]


def count_duplicates(source: dict[Path, str]) -> int:
    """Number of runs of lines that occurred before in another place."""
    windows: Counter[tuple[str, ...]] = Counter()
    runs = 0
    for text in source.values():
        lines = list(code_lines(text))
        inside = False
        for start in range(len(lines) - RUN + 1):
            window = tuple(lines[start : start + RUN])
            known = windows[window] > 0
            runs += known and not inside
            inside = known
            windows[window] += 1
    return runs


def code_lines(text: str) -> Iterator[str]:
    """The stripped lines of code, without blank lines, comments, imports and docstrings."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and number not in left_out and not stripped.startswith("#"):
            yield stripped


def count_equal_stems(source: dict[Path, str]) -> int:
    stems = Counter(path.stem for path in source if path.stem != "__init__")
    return sum(count > 1 for count in stems.values())


def show(columns: dict[str, dict[str, int]]) -> None:
    names = list(next(iter(columns.values())))
    print(" " * 36 + "".join(f"{name[:10]:>12}" for name in columns))
    for name in names:
        print(f"{name:36}" + "".join(f"{figures[name]:12,}" for figures in columns.values()))


if __name__ == "__main__":
    main()
