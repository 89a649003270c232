"""The preprocessor's answers about the files that tests grade, shipped so that a run need not ask
again: each question costs half a second of processor time.

`tests/data/preprocessed.xz` holds questions (text, names of macros, architecture) and answers. An
answer serves the nvcc and the host compiler that gave it; with others, and for new or changed texts,
the preprocessor runs. Answers about files outside nvcc's folders are not shipped. `python -m pytest
--keep-compiled` renews the archive, as `tests.support.shipped` describes.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.plumbing.cache import remember
from grader.records import CompileMistake, Evaded, ForeignFile, Submission
from grader.toolchain import preprocess
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.preprocess import Preprocessed
from grader.toolchain.workspace import Compiler
from tests.support.compiling import find_tools

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT / "tests" / "data" / "preprocessed.xz"
NOTED = "noted-answers"
"""The folder in a run's cache with the answers that the preprocessor gave in it."""


@dataclass(frozen=True)
class Answer:
    """A question and its answer. `files` are relative to nvcc's folders: index and path."""

    text: str
    names: tuple[str, ...]
    arch: str
    files: tuple[tuple[int, str], ...]
    macros: dict[str, str]

    def key(self, nvcc: Nvcc) -> str:
        """The name of the cache's entry."""
        return preprocess._key(Submission("", "", self.text), self.names, nvcc, self.arch)


def read_answers(nvcc: Nvcc, archive: Path = ARCHIVE) -> tuple[Answer, ...]:
    """The answers in an archive that this nvcc gave."""
    data = json.loads(lzma.decompress(archive.read_bytes())) if archive.exists() else {}
    return tuple(map(_parse, data["answers"])) if data.get("nvcc") == nvcc.identity else ()


def write_answers(answers: Sequence[Answer], nvcc: Nvcc, archive: Path = ARCHIVE) -> None:
    """Write an archive; equal contents give equal bytes."""
    ordered = sorted({each.key(nvcc): each for each in answers}.values(), key=lambda a: a.text)
    data = {"nvcc": nvcc.identity, "answers": [asdict(each) for each in ordered]}
    archive.write_bytes(lzma.compress(json.dumps(data, indent=0).encode(), preset=9))


def give_answers(cache: Path, answers: Sequence[Answer], nvcc: Nvcc) -> None:
    """Write answers to a cache."""
    for each in answers:
        files = tuple(str(nvcc.include_roots[root] / path) for root, path in each.files)
        remember(cache, each.key(nvcc), Preprocessed(files, each.macros))


def note_answers(cache: Path) -> None:
    """From now on keep what the preprocessor answers, with the question, in a folder of the cache."""
    ask, folder = preprocess._preprocess, cache / NOTED

    def note(
        submission: Submission, macro_names: Sequence[str], compiler: Compiler
    ) -> Preprocessed | CompileMistake | ForeignFile | Evaded:
        made = ask(submission, macro_names, compiler)
        files = _relative(made.files, compiler.nvcc) if isinstance(made, Preprocessed) else None
        if isinstance(made, Preprocessed) and files is not None:
            names = tuple(macro_names)
            answer = Answer(submission.text, names, compiler.arch, files, dict(made.macros))
            text = json.dumps(asdict(answer))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / hashlib.sha256(text.encode()).hexdigest()).write_text(text)
        return made

    preprocess._preprocess = note


def keep_answers(cache: Path, *, besides: Sequence[Answer] = ()) -> None:
    """Ship the answers that a run noted and that its cache holds, besides others."""
    nvcc, _ = find_tools()
    noted = [_parse(json.loads(path.read_text())) for path in sorted((cache / NOTED).glob("*"))]
    held = [each for each in noted if (cache / each.key(nvcc)).is_file()]
    write_answers([*besides, *held], nvcc)


def _parse(data: dict[str, object]) -> Answer:
    text, names, arch, files, macros = (data[name] for name in Answer.__dataclass_fields__)
    return Answer(text, tuple(names), arch, tuple((root, path) for root, path in files), macros)  # type: ignore[arg-type, attr-defined]


def _relative(files: Sequence[str], nvcc: Nvcc) -> tuple[tuple[int, str], ...] | None:
    """The files in nvcc's folders; None if one lies outside of them."""
    found = []
    for file in files:
        roots = [i for i, root in enumerate(nvcc.include_roots) if Path(file).is_relative_to(root)]
        if not roots:
            return None
        found.append((roots[0], os.path.relpath(file, nvcc.include_roots[roots[0]])))
    return tuple(found)
