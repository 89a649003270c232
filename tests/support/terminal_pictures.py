"""What a command prints on a terminal, as SVG: for the pages of docs/."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

COLUMNS, LINES = 80, 24
_LINE = 24.4
"""The height of a line of rich's SVG."""

_SVG = """\
<svg viewBox="-10 -8 FULL_WIDTH FULL_HEIGHT" xmlns="http://www.w3.org/2000/svg">
<!-- TITLE -->
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
  <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect fill="#ffffff" stroke="#d0d7de" x="-9" y="-7" width="FRAME_WIDTH" height="FRAME_HEIGHT"
  rx="8" />
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</svg>
"""


_GREEN, _RED, _YELLOW, _BLUE = (26, 127, 55), (207, 34, 46), (154, 103, 0), (9, 105, 218)
_SHADES = [(31, 35, 40), _RED, _GREEN, _YELLOW, _BLUE, (130, 80, 223), (27, 124, 131)]


def draw_terminal(console: Console, title: str) -> str:
    """What a recording console holds; `title` stands in the file as a comment."""
    from rich.terminal_theme import TerminalTheme

    shades = [*_SHADES, (89, 99, 110)]
    theme = TerminalTheme((255, 255, 255), (31, 35, 40), shades, shades)
    columns = console.width
    drawn = console.export_svg(theme=theme, code_format=_SVG, unique_id="report")
    lines = drawn.count('clipPath id="report-line-') + 1  # the last one has none
    width, height = round(12.2 * columns) + 20, round(_LINE * lines) + 16
    for name, size in {"FULL": (width, height), "FRAME": (width - 2, height - 2)}.items():
        drawn = drawn.replace(f"{name}_WIDTH", f"{size[0]}").replace(f"{name}_HEIGHT", f"{size[1]}")
    drawn = drawn.replace("TITLE", title)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def record_terminal(arguments: Sequence[str], folder: Path) -> str:
    """What `grade` prints with these arguments in the folder, on a terminal of COLUMNS x LINES, as
    SVG."""
    from rich.console import Console
    from rich.text import Text

    terminal = {
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),
        "LINES": str(LINES),
    }
    done = subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        cwd=folder,
        env={**os.environ, **terminal},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), f"grade {arguments}: exit code {done.returncode}"
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text(f"$ grade {' '.join(arguments)}", style="bold"), soft_wrap=True)
        for line in Text.from_ansi(done.stdout.rstrip()).split("\n", allow_blank=True):
            for part in line.divide(range(COLUMNS, len(line), COLUMNS)):
                console.print(part, soft_wrap=True)
        return draw_terminal(console, f"What grade says to {arguments[1]}")
