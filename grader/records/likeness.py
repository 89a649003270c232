"""Results of a comparison of submissions: pairs of files that share code, and the shared lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Lines(NamedTuple):
    """Lines of a file, 1-based, both ends included."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True)
class SharedPassage:
    """A run of tokens that two files share, `tokens` long: its lines in the first file and in the
    second."""

    left: Lines
    right: Lines
    tokens: int


@dataclass(frozen=True)
class SimilarPair:
    """Two files of `Comparison.files`, by index.

    `similarity` is the share, 0 to 1, of their own tokens that both have, where a token counts less
    the more files have it; `left_shared` and `right_shared` are the shares of each file.
    `identical`: the same code except for names, numbers and layout.
    """

    left: int
    right: int
    similarity: float
    left_shared: float
    right_shared: float
    identical: bool
    passages: tuple[SharedPassage, ...]


@dataclass(frozen=True)
class ComparedFile:
    """A compared file: `own_tokens` is the number of its tokens that are not in the starter and not
    in most files of the class."""

    name: str
    text: str
    tokens: int
    own_tokens: int


@dataclass(frozen=True)
class Comparison:
    """All files that were compared, and the pairs at or above the `threshold`, the most similar
    first.

    `starter` names the subtracted file, None without it. `skipped` are the files with too little
    code of their own, or none.
    """

    files: tuple[ComparedFile, ...]
    pairs: tuple[SimilarPair, ...]
    threshold: float
    starter: str | None
