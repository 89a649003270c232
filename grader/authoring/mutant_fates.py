"""Tries the mutants of an exercise's reference, and finds the case that catches each."""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from grader.authoring.mutants import Mutant, make_mutants
from grader.authoring.verdicts import FAULTLESS, Grading, list_missed
from grader.cpp.cursor import quote
from grader.devices.choose import EMULATED
from grader.grading.building import build, names_of
from grader.grading.mistakes import SubmissionError
from grader.grading.session import run_limits
from grader.grading.tools import Toolchain, find_toolchain
from grader.plumbing.cache import cache_folder
from grader.records import Progress, Score, Status, Submission
from grader.report.soundness import Claim, Fate, MutantFate, Proof
from grader.spec.exercise import Exercise, Limits
from grader.submission.plan import macro_names
from grader.submission.source_file import read_submission
from grader.toolchain.preprocess import keep_for_equal_directives

_SURVIVES = re.compile(r"//.*\bsurvives:\s*(?P<why>\S.*)")
"""The author's note on a line of the reference: a mutant of this line is harmless, with the
reason."""
MANY_TIMES, AT_LEAST = 10, 1_000_000
"""A mutant may execute this multiple of the reference's warp instructions, and at least this
number: a mutant that needs more does not end."""
QUICK_EACH = 2
"""Mutants of each kind of mistake in a sample."""


def try_mutants(
    exercise: Exercise, reference: Score, grading: Grading, *, quick: bool = False
) -> tuple[MutantFate, ...]:
    """The fates of all mutants of the reference, or of a `quick` sample of them."""
    assert exercise.reference_source is not None
    source = read_submission(exercise.reference_source)
    assert isinstance(source, Submission)
    mutants = make_mutants(source.text)
    if quick:
        mutants = sample_mutants(mutants, grading.options.fixed_seed)
    prints = _fingerprints(exercise, source, mutants, reference, grading)
    own, others = prints[0], prints[1:]
    graded = {
        number: first
        for number, mark in enumerate(others)
        if mark is None or mark != own
        for first in [number if mark is None else others.index(mark)]
    }
    label, stage = "reference", "grading mutants of the reference"
    counting = replace(grading, options=replace(grading.options, model=False))
    alone = counting.grade_all({label: exercise.reference_source}, stage)[label]
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        files = {}
        for number in sorted(set(graded.values())):
            files[str(number)] = Path(name) / f"{exercise.id}--mutant_{number}.cu"
            files[str(number)].write_text(mutants[number].text, encoding="utf-8")
        limits = run_limits(limit_mutants(exercise.limits, alone))
        options = replace(counting.options, limits=limits, until_wrong=True)
        limited = replace(counting, options=options)
        scores = limited.grade_all(files, stage)
    return tuple(
        _describe_fate(mutant, scores[str(graded[number])], reference)
        if number in graded
        else _fate(mutant, Fate.IDENTICAL, "the same machine code as the reference's")
        for number, mutant in enumerate(mutants)
    )


def sample_mutants(mutants: Sequence[Mutant], seed: int) -> tuple[Mutant, ...]:
    """At most QUICK_EACH of each kind of mistake, drawn from the seed, in their order."""
    drawn, kept = random.Random(seed), set()
    for mistake in dict.fromkeys(mutant.mistake for mutant in mutants):
        some = [number for number, each in enumerate(mutants) if each.mistake is mistake]
        kept |= set(drawn.sample(some, min(QUICK_EACH, len(some))))
    return tuple(mutants[number] for number in sorted(kept))


def limit_mutants(limits: Limits, reference: Score) -> Limits:
    """The limits of a mutant: a multiple of the reference's use."""
    count = next(
        (each.value for each in reference.metrics if each.name == "instructions_executed"), None
    )
    if count is None:
        return limits
    enough = max(AT_LEAST, MANY_TIMES * int(count))
    return replace(limits, warp_instructions=min(limits.warp_instructions, enough))


def is_as_good(score: Score, reference: Score) -> bool:
    """Whether a mutant lost no points in the checks that judged it, bonus included. Mutants are not
    timed by a model."""
    if score.status not in FAULTLESS:
        return False
    pairs = zip(score.checks, reference.checks, strict=True)
    return all(own.points >= best.points for own, best in pairs if own.status.has_points)


def _fingerprints(
    exercise: Exercise,
    source: Submission,
    mutants: Sequence[Mutant],
    reference: Score,
    grading: Grading,
) -> list[object]:
    """The fingerprint of the reference, then of each mutant; None for whole programs."""
    if exercise.program is not None:
        return [None] * (1 + len(mutants))
    assert reference.device is not None
    arch, where = reference.device.arch, cache_folder(grading.options)
    tools = find_toolchain(prefer_wheel=reference.device.kind == EMULATED, cache=where)
    grading.options.show(Progress("compiling mutants of the reference"))
    sources = [replace(source, text=mutant.text) for mutant in mutants]
    plan = build(source, exercise, tools, arch=arch).plan
    names = macro_names(plan, names_of(exercise))
    # A mutant has the directives of the reference.
    keep_for_equal_directives(source, sources, names, nvcc=tools.nvcc, arch=arch, cache=where)
    with ThreadPoolExecutor(grading.jobs) as pool:
        marks = pool.map(lambda each: _fingerprint(each, exercise, tools, arch), (source, *sources))
        return list(marks)


def _fingerprint(source: Submission, exercise: Exercise, tools: Toolchain, arch: str) -> object:
    """All that determines the behaviour of a program: its plan, and its kernels' machine code
    without line numbers."""
    try:
        built = build(source, exercise, tools, arch=arch)
    except SubmissionError:
        return None
    kernels = [
        replace(kernel, instructions=tuple(replace(i, line=None) for i in kernel.instructions))
        for kernel in built.binary.kernels
    ]
    return built.plan.lines, built.macros, kernels


def _describe_fate(mutant: Mutant, score: Score, reference: Score) -> MutantFate:
    accepted = _SURVIVES.search(mutant.before)
    if score.status is Status.COMPILE_ERROR:
        return _fate(mutant, Fate.NO_PROGRAM, "it does not compile, so it proves nothing")
    if not score.judged_points:
        return _fate(mutant, Fate.UNKNOWN, f"{score.status.value}: {score.message}")
    if not is_as_good(score, reference):
        return _fate(mutant, Fate.CAUGHT, _describe_catch(score))
    if accepted:
        return _fate(mutant, Fate.ACCEPTED, f"the author's note: {accepted['why']}")
    return _fate(mutant, Fate.SURVIVED, "full marks for all that this device judges")


def _describe_catch(score: Score) -> str:
    """The first wrong case, where later cases did not run; else the checks that lost points."""
    wrong = next((case.name for case in score.cases if case.is_wrong), None)
    return list_missed(score) if wrong is None else f"the case {quote(wrong)}"


def _fate(mutant: Mutant, fate: Fate, why: str) -> MutantFate:
    change = _shorten(mutant.before, mutant.after)
    return MutantFate(mutant.line, mutant.mistake.value, change, fate, why)


def _shorten(before: str, after: str) -> str:
    """The difference between the two lines, with a few characters around it."""
    start = _count_equal(before, after)
    end = _count_equal(before[start:][::-1], after[start:][::-1])
    first = max(0, start - 14)
    old, new = (text[first : min(len(text), len(text) - end + 10)] for text in (before, after))
    return f"{old} → {new}" if len(old) + len(new) <= 110 else f"{old[:52]}… → {new[:52]}…"


def _count_equal(first: str, second: str) -> int:
    """The length of the common beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def judge_mutants(
    exercise: Exercise, fates: tuple[MutantFate, ...] | None, *, untried: str, quick: bool
) -> Claim:
    """The claim that mutants lose marks; `untried` gives the reason where there are no fates."""
    subject, claim = "mutants", "mistakes put into the reference are caught"
    if fates is None:
        return Claim(subject, claim, Proof.OPEN, f"not tried{untried}")
    counts = Counter(each.fate for each in fates)
    tried = len(fates) - counts[Fate.NO_PROGRAM] - counts[Fate.IDENTICAL]
    sample = " of a sample (--quick)" if quick else ""
    words = [f"{counts[Fate.CAUGHT]} of {tried}{sample} are"]
    others = (Fate.ACCEPTED, Fate.UNKNOWN)
    words += [f"{counts[fate]} {fate.value}" for fate in others if counts[fate]]
    survivors = [each for each in fates if each.fate is Fate.SURVIVED]
    if not survivors:
        proof = Proof.HOLDS if counts[Fate.CAUGHT] else Proof.OPEN
        idle = () if quick else tuple(_idle_marks(exercise, fates))
        return Claim(subject, claim, proof, "; ".join(words), idle)
    words += [
        f"{len(survivors)} survived",
        "add a case that distinguishes these, or end the line of the reference with"
        " `// survives: why it does no harm`:",
    ]
    details = tuple(f"line {each.line}: {each.mistake}: {each.change}" for each in survivors)
    return Claim(subject, claim, Proof.FAILS, "; ".join(words), details)


def _idle_marks(exercise: Exercise, fates: tuple[MutantFate, ...]) -> Iterator[str]:
    """The lines of the reference that accept a survivor and have none: the mark can be removed."""
    source = exercise.reference_source
    assert source is not None
    accepted = {each.line for each in fates if each.fate is Fate.ACCEPTED}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if _SURVIVES.search(line) and number not in accepted:
            yield f"{source}: line {number}: no mutant survives here: take `survives:` out"
