"""The pages of `grade explain` on a terminal and in Markdown: a cause with its picture, and the
list of all causes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from grader.messages.explanations import Explanation, list_explanations, list_names
from grader.records import Memory
from grader.report.access_pictures import LEGENDS, Exhibit, draw, format_counts
from grader.report.terminal import TEXT_WIDTH, Page

Handout = Callable[[str], str]
"""From the name of an exercise to the place of its handout."""


@dataclass(frozen=True)
class Specimen:
    """A small kernel with a mistake: its numbered lines, the key of the cause that the grader
    found, its sentences, and the map of the wrong elements."""

    title: str
    code: tuple[tuple[int, str], ...]
    cause: str
    found: tuple[str, ...]
    drawn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """The picture of a cause: accesses of one memory, or kernels with the mistake; both may be
    empty."""

    memory: Memory | None = None
    exhibits: tuple[Exhibit, ...] = ()
    specimens: tuple[Specimen, ...] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page: lines that are shown as they are, then paragraphs, or items of a list."""

    heading: str
    lines: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    is_list: bool = False


def print_explanation(
    page: Explanation, picture: Picture, handout: Handout, *, console: Console
) -> None:
    """Print the page of a cause."""
    out = Page(console)
    out.write(_title(page), style="bold")
    out.write(page.row.meaning, indent=2)
    for section in _sections(page, picture, handout):
        out.write_heading(section.heading)
        for line in section.lines:
            out.write_row(Text(f"  {out.fold(line)}"))
        for text in section.texts:
            bullet = "- " if section.is_list else ""
            out.write(f"{bullet}{_plain(text)}", indent=2, hanging=len(bullet))


def format_explanation(page: Explanation, picture: Picture, handout: Handout) -> str:
    """The page of a cause as a section of Markdown, with the name as its anchor."""
    parts = [f'## {_title(page)} <a id="{page.name}"></a>', page.row.meaning]
    parts.append(f"```text\n{page.command}\n```")
    for section in _sections(page, picture, handout):
        parts.append(f"**{section.heading}.**")
        if section.lines:
            parts.append("\n".join(["```text", *section.lines, "```"]))
        texts = (f"- {text}" if section.is_list else text for text in section.texts)
        parts.append(("\n" if section.is_list else "\n\n").join(texts))
    return "\n\n".join(part for part in parts if part)


def complete_cause() -> list[str]:
    """The names of all pages, for a shell."""
    return list_names()


def print_causes(*, console: Console) -> None:
    """Print all causes by group, a line each where it fits."""
    out = Page(console)
    for group, pages in list_explanations().items():
        out.console.print()
        out.write(f"{group.value[0].upper()}{group.value[1:]}", style="bold")
        left = max(len(page.name) for page in pages) + 2
        for page in pages:
            width = max(20, min(out.console.width, TEXT_WIDTH) - left - 2)
            first, *others = textwrap.wrap(out.clean(page.title), width)
            out.write_row(Text(f"  {page.name:<{left}}{first}"))
            for line in others:
                out.write_row(Text(" " * (left + 2) + line))
    out.console.print()
    out.write("grade explain NAME: definition, picture, detection, fix, handouts", style="dim")


def _title(page: Explanation) -> str:
    return f"{page.title[0].upper()}{page.title[1:]}"


def _plain(text: str) -> str:
    """The text without the marks of code."""
    return text.replace("`", "")


# --- sections -------------------------------------------------------------------------------------


def _sections(page: Explanation, picture: Picture, handout: Handout) -> Iterator[Section]:
    yield from _draw_exhibits(picture)
    for specimen in picture.specimens:
        code = tuple(f"{number:>4} | {text}".rstrip() for number, text in specimen.code)
        yield Section("In a small kernel", code, (specimen.title,))
        yield Section("The grader's report on it", specimen.drawn, specimen.found)
    if page.row.code:
        yield Section("For example", tuple(page.row.code.split("\n")))
    yield Section("How to detect it", texts=page.detect, is_list=True)
    yield Section("How to fix it", texts=(page.row.fix,))
    if page.row.exercises:
        places = tuple(f"{name}: {handout(name)}" for name in page.row.exercises)
        yield Section("Handouts", texts=places, is_list=True)


def _draw_exhibits(picture: Picture) -> Iterator[Section]:
    if picture.memory is None:
        return
    heading = "In a small kernel"
    for exhibit in picture.exhibits:
        lines = (exhibit.access, "", *draw(exhibit, picture.memory))
        counts = format_counts(exhibit, picture.memory)
        yield Section(heading, lines, (exhibit.title, f"{counts[0].upper()}{counts[1:]}."))
        heading = "For comparison"
    yield Section("How to read the pictures", texts=(LEGENDS[picture.memory],))
