"""Finds the pairs of files that share code (winnowing: Schleimer, Wilkerson, Aiken, "Winnowing",
SIGMOD 2003).

Every run of GRAM tokens has a hash; the smallest of each WINDOW neighbouring hashes is a
fingerprint, so that two files that share GRAM + WINDOW - 1 tokens in a row share a fingerprint.
Pairs with enough common fingerprints are then compared token by token: shared passages grow from
common fingerprints as far as the tokens agree, the longest first, each token in one passage at
most.

Tokens weigh more the fewer files have them: a passage that two files of a class share weighs 1, a
passage of the textbook that all files contain weighs 0. `benchmarks/similar.py` measures the effect
of these weights and of the numbers below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from grader.records import ComparedFile, Comparison, Lines, SharedPassage, SimilarPair
from grader.similar.tokens import TokenText, read_tokens

GRAM = 10
WINDOW = 3
DEFAULT_THRESHOLD = 0.6
MIN_OWN_TOKENS = 30
"""Least own code of a file, about four lines: shorter files give no evidence."""
COMMON_FILES = 10
COMMON_PART = 0.4
"""Code that more than this part of the files have, and more than COMMON_FILES of them, counts as
common usage."""

LEAST_WEIGHT = 0.1
"""Weight of a token that all files have, in a class too small to call it common usage."""
REPEATS = 16
"""Most places of a fingerprint that are compared: a file that repeats itself would cost the square
of its length."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_COLUMNS = 4096

Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Places = NDArray[np.intp]
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class _Grams:
    """All grams of a class, sorted; how many files have each; which are a starter's or common."""

    hashes: Hashes
    files: NDArray[np.int64]
    foreign: Bools
    of_files: int

    def weigh(self, grams: Hashes) -> Weights:
        """The weight of each of a file's grams: 0 for a foreign gram, 1 if at most two files have
        it, and less the more files have it."""
        place = np.searchsorted(self.hashes, grams)
        if self.of_files <= 2:
            weights = np.ones(len(grams))
        else:
            rarity = np.log(self.of_files / self.files[place]) / np.log(self.of_files / 2)
            weights = np.clip(rarity, LEAST_WEIGHT, 1)
        weights[self.foreign[place]] = 0
        return weights


@dataclass(frozen=True)
class _File:
    """A file's tokens, their weights (0: not its own), and its fingerprints: hash -> places."""

    tokens: TokenText
    weights: Weights
    prints: Mapping[int, Sequence[int]]

    @property
    def own_tokens(self) -> int:
        return int(np.count_nonzero(self.weights))

    def weigh(self, start: int, length: int) -> float:
        """The weight of a run of its tokens."""
        return float(self.weights[start : start + length].sum())


def compare_files(
    texts: Mapping[str, str], *, starters: Mapping[str, str], threshold: float = DEFAULT_THRESHOLD
) -> Comparison:
    """Compares all texts, by their names, with each other. The code of one of the `starters` is
    subtracted: of the starter that the files share the most with."""
    tokens = [read_tokens(text) for text in texts.values()]
    grams = [_hash_grams(each.codes) for each in tokens]
    starter, given = _choose_starter(grams, starters)
    held = _count_grams(grams, given)
    files = [_prepare(each, hashes, held) for each, hashes in zip(tokens, grams, strict=True)]
    pairs = [
        pair
        for left, right in _find_candidates(files, threshold)
        if (pair := _compare(files, left, right)).similarity >= threshold
    ]
    pairs.sort(key=_rank)
    compared = tuple(
        ComparedFile(name, text, len(file.tokens), file.own_tokens)
        for (name, text), file in zip(texts.items(), files, strict=True)
    )
    return Comparison(compared, tuple(pairs), threshold, starter)


def _rank(pair: SimilarPair) -> tuple[float, ...]:
    tokens = sum(passage.tokens for passage in pair.passages)
    return -pair.similarity, -tokens, pair.left, pair.right


# --- fingerprints ---------------------------------------------------------------------------------


def _hash_grams(codes: NDArray[np.uint32]) -> Hashes:
    """The hash of every run of GRAM tokens; shorter texts have none."""
    count = len(codes) - GRAM + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(GRAM):
            hashes = hashes * _FACTOR + codes[offset : offset + count]
        # The low bits alone would depend on the last tokens only.
        return hashes ^ (hashes >> np.uint64(29))


def _choose_starter(
    grams: Sequence[Hashes], starters: Mapping[str, str]
) -> tuple[str | None, Hashes]:
    """The starter that the files share the most with, and its grams; or none."""
    best: tuple[float, str | None, Hashes] = 0.0, None, np.zeros(0, np.uint64)
    for name, text in starters.items():
        own = np.unique(_hash_grams(read_tokens(text).codes))
        held = float(sum(np.isin(own, each).mean() for each in grams)) if len(own) else 0.0
        if held > best[0]:
            best = held, name, own
    return best[1:]


def _count_grams(grams: Sequence[Hashes], starter: Hashes) -> _Grams:
    each = [np.unique(hashes) for hashes in grams] or [np.zeros(0, np.uint64)]
    hashes, files = np.unique(np.concatenate(each), return_counts=True)
    everybodys = files > max(COMMON_FILES, COMMON_PART * len(grams))
    return _Grams(hashes, files, everybodys | np.isin(hashes, starter), len(grams))


def _prepare(tokens: TokenText, grams: Hashes, held: _Grams) -> _File:
    """A token weighs as much as the most common gram that contains it."""
    of_grams = held.weigh(grams)
    weights = np.ones(len(tokens))
    for offset in range(GRAM):
        covered = weights[offset : offset + len(grams)]
        np.minimum(covered, of_grams, out=covered)
    prints: dict[int, list[int]] = {}
    for place in _winnow(grams):
        if of_grams[place] and len(places := prints.setdefault(int(grams[place]), [])) < REPEATS:
            places.append(int(place))
    return _File(tokens, weights, prints)


def _winnow(grams: Hashes) -> Places:
    """The places of the fingerprints: the last smallest hash of each window."""
    if len(grams) <= WINDOW:
        return np.arange(len(grams))
    windows = sliding_window_view(grams, WINDOW)
    last = WINDOW - 1 - windows[:, ::-1].argmin(axis=1)
    return np.unique(np.arange(len(windows)) + last)


# --- pairs ----------------------------------------------------------------------------------------


def _find_candidates(files: Sequence[_File], threshold: float) -> Iterator[tuple[int, int]]:
    """The pairs that have at least half of the fingerprints in common that the threshold would
    need."""
    chosen = [index for index, file in enumerate(files) if file.own_tokens >= MIN_OWN_TOKENS]
    numbers: dict[int, int] = {}
    rows = [
        np.array([numbers.setdefault(key, len(numbers)) for key in files[index].prints], np.intp)
        for index in chosen
    ]
    shared = np.zeros((len(chosen), len(chosen)), np.float32)
    for start in range(0, len(numbers), _COLUMNS):
        block = np.zeros((len(chosen), _COLUMNS), np.float32)
        for row, columns in enumerate(rows):
            block[row, columns[(columns >= start) & (columns < start + _COLUMNS)] - start] = 1
        shared += block @ block.T
    sizes = np.array([len(row) for row in rows], np.float32)
    needed = threshold / 2 * np.minimum(sizes[:, None], sizes[None, :])
    for left, right in np.argwhere(np.triu((shared >= needed) & (shared > 0), 1)):
        yield chosen[left], chosen[right]


def _compare(files: Sequence[_File], left: int, right: int) -> SimilarPair:
    first, second = files[left], files[right]
    passages = _find_passages(first, second)
    in_left = sum(first.weigh(a, length) for a, _, length in passages)
    in_right = sum(second.weigh(b, length) for _, b, length in passages)
    all_left, all_right = first.weights.sum(), second.weights.sum()
    return SimilarPair(
        left,
        right,
        similarity=float((in_left + in_right) / (all_left + all_right)),
        left_shared=float(in_left / all_left),
        right_shared=float(in_right / all_right),
        identical=np.array_equal(first.tokens.codes, second.tokens.codes),
        passages=tuple(
            SharedPassage(_lines(first, a, length), _lines(second, b, length), length)
            for a, b, length in sorted(passages)
        ),
    )


def _find_passages(first: _File, second: _File) -> list[tuple[int, int, int]]:
    """Runs of equal tokens: (place in the first, place in the second, length); no token of either
    is in two of them."""
    shared = first.prints.keys() & second.prints.keys()
    places = [(a, b) for key in shared for a in first.prints[key] for b in second.prints[key]]
    grown = set()
    # By diagonal, the end of the last run: places inside it have the same run.
    reached: dict[int, int] = {}
    for a, b in sorted(places):
        if a >= reached.get(a - b, 0):
            run = _grow(first.tokens.codes, second.tokens.codes, a, b)
            reached[a - b] = run[0] + run[2]
            grown.add(run)
    free_left, free_right = (np.ones(len(file.tokens), np.bool_) for file in (first, second))
    taken = []
    for a, b, length in sorted(grown, key=lambda run: -run[2]):
        free = free_left[a : a + length] & free_right[b : b + length]
        start, end = _longest_run(free)
        if end - start >= GRAM:
            taken.append((a + start, b + start, end - start))
            free_left[a + start : a + end] = False
            free_right[b + start : b + end] = False
    return taken


def _grow(
    left: NDArray[np.uint32], right: NDArray[np.uint32], a: int, b: int
) -> tuple[int, int, int]:
    """The longest run of equal tokens that contains these places."""
    back = min(a, b)
    before = _equal_from_start(left[a - back : a][::-1], right[b - back : b][::-1])
    ahead = min(len(left) - a, len(right) - b)
    after = _equal_from_start(left[a : a + ahead], right[b : b + ahead])
    return a - before, b - before, before + after


def _equal_from_start(left: NDArray[np.uint32], right: NDArray[np.uint32]) -> int:
    start, step = 0, GRAM  # in growing pieces: most runs are short
    while start < len(left):
        different = np.flatnonzero(left[start : start + step] != right[start : start + step])
        if len(different):
            return start + int(different[0])
        start, step = start + step, 2 * step
    return len(left)


def _longest_run(free: Bools) -> tuple[int, int]:
    """Start and end of the longest run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], free, [False])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    best = int((ends - starts).argmax())
    return int(starts[best]), int(ends[best])


def _lines(file: _File, start: int, length: int) -> Lines:
    return Lines(int(file.tokens.lines[start]), int(file.tokens.lines[start + length - 1]))
