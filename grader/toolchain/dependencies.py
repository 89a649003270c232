"""The files that a submission includes, as recorded by the preprocessor that opened them.

The source is gcc's own list (`-MD`), not the line markers of its output: a `#line` directive of the
submission forges the markers, and `#embed` leaves none. nvcc's `-M` is made from the markers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from grader.cpp.lexer import Kind, read_tokens
from grader.plumbing.paths import lies_under
from grader.records import Evaded, Evasion, ForeignFile
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.workspace import (
    DEPENDENCIES_NAME,
    SOURCE_NAME,
    Compiler,
    Workspace,
    run_nvcc,
)

_FORBIDDEN = re.compile(r"fatal error: .*: Permission denied$", re.MULTILINE)
"""gcc's message about a file that Landlock hides."""
_DIRECTIVES = "include|include_next|import|embed|if|ifn?def|elif|else|endif|define|undef"
_MADE_DIRECTIVE = re.compile(rf"^[ \t]*(?:#|%:)[ \t]*(?:{_DIRECTIVES})\b", re.MULTILINE)
_FOREIGN = ForeignFile(None)


def parse_dependencies(text: str) -> tuple[str, ...]:
    """The prerequisites of a make rule as gcc writes it, in order, unescaped (gcc, `-M`: space, `#`
    and `$`)."""
    rule = text.replace("\\\n", " ").partition(":")[2]
    words = re.findall(r"(?:\\.|[^\s\\])+", rule)
    return tuple(re.sub(r"\\([ \t#\\:])", r"\1", word).replace("$$", "$") for word in words)


def read_dependencies(workspace: Workspace) -> tuple[str, ...]:
    """Absolute, resolved paths of the included files that the last run of nvcc opened, without the
    submission itself.

    With `-MG` gcc lists missing files too: of these, only files that a path out of the submission's
    folder must have named.
    """
    text = (workspace.out / DEPENDENCIES_NAME).read_text(errors="surrogateescape")
    # os.path, because pathlib raises where a student's name is too long or a link leads to itself.
    paths = dict.fromkeys(
        os.path.realpath(workspace.source / name) for name in parse_dependencies(text)
    )
    own = os.path.realpath(workspace.source / SOURCE_NAME)
    folder = os.path.realpath(workspace.source) + os.sep
    return tuple(
        path
        for path in paths
        if path != own and (os.path.exists(path) or not path.startswith(folder))  # noqa: PTH110
    )


def check_failed_run(compiler: Compiler, workspace: Workspace) -> ForeignFile | None:
    """A rejection if the submission, which nvcc refused, includes a file that nvcc's messages must
    not mention.

    The list is made anew, past missing headers (`-MG`): gcc writes no list if a missing header
    stops it.
    """
    (workspace.out / DEPENDENCIES_NAME).unlink(missing_ok=True)
    again = run_nvcc(compiler, workspace, "-E", output="again.ii", dependencies="-M,-MG")
    if _FORBIDDEN.search(again.stderr + again.stdout):
        return _FOREIGN
    if not (workspace.out / DEPENDENCIES_NAME).exists():
        return None
    return check_files(read_dependencies(workspace), compiler.nvcc)


def check_files(files: Sequence[str], nvcc: Nvcc) -> ForeignFile | None:
    """A rejection if a file is neither the toolkit's nor the C++ compiler's; it contains neither
    name nor contents of the file."""
    return None if all(map(lies_under(nvcc.include_roots), files)) else _FOREIGN


def check_directives(preprocessed: str) -> Evaded | None:
    """A rejection if macros have made directives: gcc's preprocessor ignores them, and the compiler
    proper would obey them unnoticed."""
    if not _MADE_DIRECTIVE.search(preprocessed):
        return None
    tokens = read_tokens(preprocessed)  # nearly all that look like directives are in raw strings
    outside = "".join('""' if token.kind is Kind.RAW else token.text for token in tokens)
    return Evaded(Evasion.MADE_DIRECTIVE) if _MADE_DIRECTIVE.search(outside) else None
