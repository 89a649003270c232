"""Runs nvcc's preprocessor: the values of macros, and the files that a submission includes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cpp.lexer import lines_of_code
from grader.plumbing.cache import cache_key, recall, remember
from grader.records import CompileMistake, Evaded, ForeignFile, RunTool, Submission, ToolLimits
from grader.toolchain.blame import settle
from grader.toolchain.dependencies import check_directives, check_failed_run, read_dependencies
from grader.toolchain.diagnostics import explain_failed_run
from grader.toolchain.front_end import (
    PREPROCESSED_NAME,
    PREPROCESSOR_BYTES,
    run_preprocessor,
)
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.workspace import Compiler, compile_options, open_workspace


@dataclass(frozen=True)
class Preprocessed:
    """`files`: resolved paths of all included files, in the order in which they were opened.

    `macros`: each wanted name that is defined at the end of the submission, and its full expansion.
    """

    files: tuple[str, ...]
    macros: Mapping[str, str]


def preprocess(
    submission: Submission,
    macro_names: Sequence[str],
    *,
    nvcc: Nvcc,
    arch: str,
    run: RunTool,
    limits: ToolLimits,
    cache: Path | None = None,
) -> Preprocessed | CompileMistake | ForeignFile | Evaded:
    """Preprocess as the device compilation does, and expand `macro_names` after the submission's
    last line; or read the result from `cache`, a folder: files that differ only in comments share
    it.

    Else a mistake: the compiler's message, or a forbidden file that took part in it.
    """
    key = _key(submission, macro_names, nvcc, arch)
    if (known := recall(cache, key, Preprocessed)) is not None:
        return known
    limits = replace(limits, memory_bytes=min(limits.memory_bytes, PREPROCESSOR_BYTES))
    compiler = Compiler(nvcc, arch, run, limits)
    made = settle(lambda: _preprocess(submission, macro_names, compiler), compiler)
    if isinstance(made, Preprocessed):
        remember(cache, key, made)
    return made


def keep_for_equal_directives(
    submission: Submission,
    others: Iterable[Submission],
    macro_names: Sequence[str],
    *,
    nvcc: Nvcc,
    arch: str,
    cache: Path,
) -> None:
    """Keeps the result of a submission, if the cache has it, for others with the same directives:
    they include the same files and define the same macros."""
    known = recall(cache, _key(submission, macro_names, nvcc, arch), Preprocessed)
    for other in others if known is not None else ():
        remember(cache, _key(other, macro_names, nvcc, arch), known)


def _key(submission: Submission, macro_names: Sequence[str], nvcc: Nvcc, arch: str) -> str:
    roots = map(str, nvcc.include_roots)  # the names of files are kept, which lie there
    options = compile_options(arch)
    code = lines_of_code(submission.text)
    return "macros-" + cache_key(code, nvcc.identity, *options, "", *roots, "", *macro_names)


def _preprocess(
    submission: Submission, macro_names: Sequence[str], compiler: Compiler
) -> Preprocessed | CompileMistake | ForeignFile | Evaded:
    marker = f"__grader_macro_{submission.sha256[:16]}"
    with open_workspace(submission.text + _marker_lines(macro_names, marker)) as workspace:
        completed = run_preprocessor(compiler, workspace)
        if completed.limit is None and completed.returncode == 0:
            text = (workspace.out / PREPROCESSED_NAME).read_text(errors="replace")
            return check_directives(text) or Preprocessed(
                read_dependencies(workspace), _read_macros(text, macro_names, marker)
            )
        return check_failed_run(compiler, workspace) or explain_failed_run(
            completed,
            submission,
            nvcc=compiler.nvcc,
            limits=compiler.limits,
            run=compiler.run,
        )


def _marker_lines(macro_names: Sequence[str], marker: str) -> str:
    """Lines that expand the macros, after two newlines: if the last line ends in a backslash, it
    swallows the first.

    The submission cannot write the marker, which includes its own hash.
    """
    lines = (
        f"#ifdef {name}\n{marker}_{i} {name} {marker}_end\n#endif\n"
        for i, name in enumerate(macro_names)
    )
    return "\n\n" + "".join(lines)


def _read_macros(text: str, macro_names: Sequence[str], marker: str) -> dict[str, str]:
    """Expansions between the markers; line markers in them (tokens of system headers bring some)
    are left out."""
    found = re.findall(
        rf"^{marker}_(\d+) (.*?){marker}_end$",
        text[max(0, text.find(marker)) :],
        re.MULTILINE | re.DOTALL,
    )
    return {
        macro_names[int(i)]: " ".join(re.sub(r"^#.*$", "", body, flags=re.MULTILINE).split())
        for i, body in found
    }
