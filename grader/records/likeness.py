"""What a comparison of submissions finds: pairs of files that share code, and where."""

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

    `similarity` is the part, 0 to 1, of their own tokens that both share, where a token counts less
    the more files have it; `left_shared` and `right_shared` are the parts of each one. `identical`:
    the same code but for names, numbers and how it is written.
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
    """A file as it was compared: `own_tokens` are those that are neither the starter's nor most of
    the class's."""

    name: str
    text: str
    tokens: int
    own_tokens: int


@dataclass(frozen=True)
class Comparison:
    """All files that were compared, and the pairs at or above the `threshold`, the most similar
    first.

    `starter` names what was subtracted, None where nothing was. `skipped` says which files have too
    little code of their own, or none.
    """

    files: tuple[ComparedFile, ...]
    pairs: tuple[SimilarPair, ...]
    threshold: float
    starter: str | None
