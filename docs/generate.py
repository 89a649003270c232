"""Writes the pages of docs/reference from what the grader knows, and the picture of a report.

    python docs/generate.py              writes all pages of docs/reference, and grader/schemas
    python docs/generate.py --picture    grades the transpose's starter and draws the report, too

tests/docs/test_reference.py compares the pages with the output of `make_page`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
sys.path[:0] = [str(ROOT), str(DOCS)]

from schemas import SCHEMAS, make_schemas  # noqa: E402 - docs/schemas.py

from grader.cli import COMMANDS, GRADE  # noqa: E402 - found by the line above
from grader.cuda.functions import (  # noqa: E402
    LIBRARIES,
    Function,
    Library,
    header_folder,
    read_functions,
    read_versions,
    unsupported_names,
)
from grader.devices.gpus import read_gpus  # noqa: E402
from grader.emulator.codegen.opcodes.reference import render_coverage  # noqa: E402
from grader.emulator.timing.figures import Figures  # noqa: E402
from grader.emulator.timing.intervals import UNKNOWN, read_intervals  # noqa: E402
from grader.explore.mistakes import draw_causes  # noqa: E402
from grader.grading.tools import find_toolchain  # noqa: E402
from grader.judging.timing import MOST_DOUBT, is_known  # noqa: E402
from grader.messages.explanations import NCU, list_explanations  # noqa: E402
from grader.messages.findings import FINDINGS  # noqa: E402
from grader.metrics import COMPARABLE, METRICS, sources, unit_words  # noqa: E402
from grader.plumbing.cache import default_cache  # noqa: E402
from grader.records import Timing  # noqa: E402
from grader.report.explanation_page import format_explanation  # noqa: E402
from grader.statuses import CHECK_STATUSES, STATUSES, Doing, Status  # noqa: E402
from tests.support.corpus_explained import render_corpus  # noqa: E402
from tests.support.terminal_pictures import draw_terminal  # noqa: E402

Json = dict[str, object]

CACHE = default_cache(os.environ)

NOTE = "<!-- Written by `python docs/generate.py`: change its sources, not this page. -->"
PICTURE = DOCS / "images" / "report.svg"
ERRORS = ROOT / "tests" / "data" / "model_errors.json"

_WHOSE = {
    Doing.STUDENT: "the submission",
    Doing.DEVICE: "the device",
    Doing.OURS: "the grader or the machine",
}


def make_page(name: str) -> str:
    """The text of docs/reference/NAME.md."""
    return f"{NOTE}\n\n{PAGES[name]()}\n"


def format_table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def format_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


# --- pages ----------------------------------------------------------------------------------------


def make_opcodes() -> str:
    return f"""\
# Instructions

The emulated device executes these instructions of NVIDIA's machine code (SASS). Their results equal
an H100's to the last bit.

A launch ends as `unsupported`, with the instruction and its source line, if it reaches another
instruction or a modifier that is not listed. A kernel with an unknown branch does not run at all.

{render_coverage()}"""


def make_corpus() -> str:
    return f"""\
# The corpus

Small kernels with a single feature each (`tests/emulator/kernels`), most of them on edge values.
The outputs and Nsight Compute's counters of a GPU are recorded. The same machine code runs on the
emulated device. `pytest tests/emulator/test_corpus.py --run-slow --all-levels` compares every bit
of the outputs and every counter. In a row with "outputs" only, the counters change from run to run
on a GPU, or depend on its clock.

{render_corpus()}"""


def make_metrics() -> str:
    rows = (
        (
            f"`{metric.name}`",
            unit_words(metric),
            metric.better.value,
            *(sources(metric).get(device, "–") for device in ("gpu", "emulated")),
            "yes" if metric.name in COMPARABLE else "",
            format_cell(metric.meaning),
        )
        for metric in METRICS.values()
    )
    head = (
        "metric",
        "unit",
        "better",
        "on a GPU",
        "emulated",
        "goal may be relative",
        "meaning",
    )
    return f"""\
# Metrics

A check of an exercise grades a metric of this table. A score reports all of them: each with its
value, unit and source, or with the reason for a missing value. Fractions are 0 to 1 in specs and
JSON, and percentages in reports. `grade metrics` prints this list.

If the table has "yes" for it, a goal may be a multiple of the baseline's or the reference's value
(`relative_to` in the spec).

{format_table(head, rows)}

{_list_comments()}

## Names in Nsight Compute

{format_table(("metric", "Nsight Compute", "section"), _ncu_rows())}

[How it counts](../devices.md#how-it-counts) explains the choice for `shared_bank_conflicts`."""


def _ncu_rows() -> Iterator[tuple[str, str, str]]:
    return ((f"`{name}`", f"`{figure}`", section) for name, (figure, section) in NCU.items())


def _list_comments() -> str:
    """The comments on metrics, each with the metrics that have it."""
    about: dict[str, list[str]] = {}
    for metric in METRICS.values():
        if metric.comment:
            about.setdefault(metric.comment, []).append(f"`{metric.name}`")
    return "\n".join(f"- {', '.join(names)}: {comment}" for comment, names in about.items())


_POINTS = {Status.INCONCLUSIVE: "yes, but no final grade: an empty cell"}


def make_statuses() -> str:
    statuses = (
        (
            f"`{status}`",
            row.meaning,
            _WHOSE[row.doing],
            _POINTS.get(status, "yes" if status.has_points else "no: an empty cell"),
            str(status.exit_code),
        )
        for status, row in STATUSES.items()
    )
    checks = ((f"`{status}`", row.meaning) for status, row in CHECK_STATUSES.items())
    findings = ((f"`{kind}`", row.meaning) for kind, row in FINDINGS.items())
    return f"""\
# Statuses and exit codes

## Of a grading

{format_table(("status", "meaning", "caused by", "points", "exit code"), statuses)}

## Of a check

{format_table(("status", "meaning"), checks)}

## Exit codes of grade

| code | meaning |
| --- | --- |
| 0 | full marks |
| 1 | graded, but not full marks, or points are pending |
| 2 | bad usage, or a broken exercise |
| 3 | the grader or the machine failed; the submission is never the cause |
| 130, 143 | interrupted by Ctrl-C or SIGTERM |

[Commands](commands.md) lists the exit codes of the other commands.

## Findings

Mistakes that a device finds while a kernel runs: `findings` in the score. Only the [checked
mode](../devices.md#the-checked-mode) finds the last five.

{format_table(("kind", "meaning"), findings)}"""


def make_errors() -> str:
    data = json.loads(ERRORS.read_text(encoding="utf-8"))
    names = {"h100": "H100 SXM", "h200": "H200 SXM"}
    parts = [
        f"## {names[gpu]}\n\n"
        + "\n".join(f"- {line}" for line in data[gpu]["summary"])
        + "\n\n"
        + _format_records(
            data[gpu]["rows"], ("program", "size", "measured ms", "modelled ms", "error")
        )
        for gpu in names
    ]
    body = "\n\n".join(parts)
    body += f"\n\n{_format_intervals()}"
    if "left_out" in data:
        body += f"\n\n{_format_left_out(data['left_out'])}"
    published = _format_records(
        data["published"], ("GPU", "kernel", "published", "modelled", "difference")
    )
    return f"""\
# Errors of the timing model

Measured and modelled times with a cold L2. `truth/` are the kernels of `tests/data/truth`.
Parameters were fitted only on these kernels, and only on the H100. Known submissions are the files
of `tests/submissions` that run. Modelled times are corrected by similar measured kernels, but never
by the kernel itself. `python benchmarks/model.py --gpu h100` (or `h200`) repeats the comparison.
`python benchmarks/times.py` measured the times on these GPUs.

{body}

## Against published figures

All other GPUs are unverified: they have published figures and the parameters of the H100. This
table compares two such models with published times. An RTX A6000 is modelled as an RTX 3090 with
84 SMs at 1,800 MHz and 768 GB/s. The programs do the same work as the published programs, but their
text differs: in row 6, only the grader's program pads its tile and loads ahead. `python
benchmarks/published.py` repeats the table.

{published}

Sources: github.com/siboehm/SGEMM_CUDA (README); fridayswithfaraday.com, "Matrix Transpose: The
Canonical CUDA Optimization Problem"."""


def make_gpus() -> str:
    """The figures of each GPU with their sources, and the figures that all GPUs share."""
    gpus = [gpu for gpu in read_gpus().values() if gpu.figures is not None]
    rows = (
        (
            gpu.name.removeprefix("NVIDIA "),
            str(figures.multiprocessors),
            f"{figures.clock_mhz:,.0f}",
            f"{figures.dram_gbps:,.0f}",
            f"{figures.l2_bytes / 2**20:.4g}",
            " / ".join(map(str, (figures.l1_latency, figures.l2_latency, figures.dram_latency))),
            f"{figures.l2_bytes_per_cycle:,.0f}",
            f"{figures.l2_slices} / {figures.dram_channels}",
            "measured" if figures.measured else "**unverified**",
        )
        for gpu in gpus
        if (figures := gpu.figures) is not None
    )
    head = ("GPU", "SMs", "MHz", "DRAM, GB/s", "L2, MiB", "latency of L1 / L2 / DRAM, cycles")
    head = (*head, "L2, bytes per cycle", "slices / channels", "times")
    sources = (
        f"- **{gpu.name.removeprefix('NVIDIA ')}**: {gpu.source}."
        f" Model: {(gpu.timing or {})['source']}."
        for gpu in gpus
    )
    own = {name for gpu in gpus for name in gpu.timing or {}}
    shared = (
        (f"`{each.name}`", f"{each.default:g}")
        for each in fields(Figures)
        if isinstance(each.default, int | float) and each.name not in {*own, "measured"}
    )
    return f"""\
# Figures of each GPU

The [timing model](../timing-model.md) has these figures of each GPU. Only the H100's and the H200's
times were compared with a GPU. All other GPUs are unverified, and their [intervals are
wider](../timing-model.md#the-interval-of-a-time). `python benchmarks/published.py` compares two of
them with [published times](model-errors.md#against-published-figures).

{format_table(head, rows)}

## Sources

Where a source names another GPU, the figure is that GPU's. "No source" marks a guess.

{chr(10).join(sources)}

## Figures of all GPUs

Nobody has published these figures for each GPU. They come from an H100 and an H200, by
[microbenchmarks or a fit](../timing-model.md#the-parameters), and are used for all GPUs. Other
generations may differ by more than the interval. `grader/emulator/timing/figures.py` explains them.

{format_table(("figure", "value"), shared)}"""


def _format_intervals() -> str:
    """The intervals of modelled times, by kind of launch."""
    rows = (
        (
            kind if kind != UNKNOWN else "any other",
            f"{100 * (each.low - 1):+.0f} %",
            f"{100 * (each.high - 1):+.0f} %",
            str(each.times),
            "yes" if is_known(Timing("", 1.0, (each.low, each.high), (), kind)) else "no",
        )
        for kind, each in read_intervals().items()
    )
    head = ("kind of launch", "from", "to", "measured times behind it", "a goal inside is judged")
    return f"""\
## Intervals

Nine of ten times on a GPU are between these bounds, relative to the time before its correction.
They apply where no similar kernel was measured; elsewhere [intervals are
narrower](../timing-model.md#the-interval-of-a-time). A goal inside an interval is passed. If the
interval reaches further than {100 * MOST_DOUBT:g} %, such a goal is not judged.

{format_table(head, rows)}"""


def _format_left_out(found: Mapping[str, Any]) -> str:
    """Errors of families of kernels, with parameters that no time of the family was fitted to."""
    gpu, fitted = found["gpu"], found["fitted"]
    how = (
        "with parameters from the times of all other families\non the"
        f" {gpu.upper()}, and with parameters from all families"
        if fitted
        else f"with today's parameters, on the {gpu.upper()}: no search\nfitted these times"
    )
    summary = "\n".join(f"- {line}" for line in found["summary"])
    return f"""\
## Families left out

Each family of `benchmarks/kernels`, modelled {how}.
`python benchmarks/fit.py --gpu {gpu}{"" if fitted else " --rounds 0"}` repeats the table.

{summary}

{_format_records(found["rows"], list(found["rows"][0]))}"""


def _format_records(rows: Sequence[Mapping[str, str]], head: Sequence[str]) -> str:
    return format_table(head, (list(row.values()) for row in rows))


def make_causes() -> str:
    """A section per cause, with the picture of `grade explain`."""
    listed = list_explanations()
    pages = [page for group in listed.values() for page in group]
    rows = [page.row for page in pages]
    pictures = dict(zip((page.key for page in pages), draw_causes(rows, cache=CACHE), strict=True))
    parts = [
        "# Causes of lost points",
        "Each cause of lost points and each finding that a report can name. `grade explain NAME`"
        " prints a section of this page.",
    ]
    for group, found in listed.items():
        parts.append(f"**{group.value[0].upper()}{group.value[1:]}**")
        rows_of = ((f"[`{each.name}`](#{each.name})", each.title) for each in found)
        parts.append(format_table(("name", "cause"), rows_of))
    parts += [format_explanation(page, pictures[page.key], _link_handout) for page in pages]
    return "\n\n".join(parts)


def _link_handout(exercise: str) -> str:
    return f"[handout](../../exercises/{exercise}/README.md)"


def make_commands() -> str:
    parts = ["# Commands", "Every command and option of `--help`."]
    for name, command in {"": GRADE, **COMMANDS}.items():
        parser = command.make_parser()
        usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
        title = f"grade {name}".rstrip()
        parts += [
            f"## {title}",
            (parser.description or "").strip(),
            f"```text\n{usage if name else 'grade EXERCISE SUBMISSION.cu [options]'}\n```",
            format_table(("argument", "meaning"), _argument_rows(parser)),
        ]
        if parser.epilog:
            parts.append(f"```text\n{parser.epilog.strip()}\n```")
    return "\n\n".join(parts)


def _argument_rows(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        value = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else "")
        shown = str(value) if action.nargs != 0 else ""
        names = ", ".join(f"{name} {shown}".rstrip() for name in action.option_strings) or shown
        if action.dest != "help":
            yield f"`{names}`".replace("|", "\\|"), format_cell(action.help or "")


# --- schemas --------------------------------------------------------------------------------------


def make_spec_schema() -> str:
    return _make_schema_page(
        "spec.schema.json",
        "Fields of spec.json",
        "`exercises/<id>/spec.json` describes an exercise. [For authors](../author.md) explains the"
        " fields in the order of writing. This page lists all of them.",
    )


def make_score_schema() -> str:
    return _make_schema_page(
        "score.schema.json",
        "Fields of a score",
        "`grade --json FILE` writes a score, `--json -` prints it. An unavailable figure is `null`,"
        " with a reason.",
    )


def _make_schema_page(name: str, title: str, words: str) -> str:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    named = schema["$defs"]
    for key, field in schema["properties"].items():
        if "properties" in field:  # a section of its own
            named[key] = field
            schema["properties"][key] = {"$ref": f"#/$defs/{key}"}
    parts = [
        f"# {title}",
        f"{words} The schema is [grader/schemas/{name}](../../grader/schemas/{name}).",
        "## The file",
        _field_table(schema, named),
    ]
    values = []
    for key, part in sorted(named.items()):
        if "properties" in part:
            described = [part["description"]] if "description" in part else []
            parts += [f"## {key}", *described, _field_table(part, named)]
        else:
            values.append((f'<a id="{key}"></a>`{key}`', _type_of(part), _meaning(part, named)))
    table = format_table(("name", "type", "meaning"), iter(values))
    return "\n\n".join([*parts, "## Values", table])


def _field_table(schema: Json, named: Json) -> str:
    required = set(_list(schema.get("required")))
    rows = (
        (
            f"`{name}`" + ("" if name in required else " (optional)"),
            _type_of(field),
            _meaning(field, named),
        )
        for name, field in _dict(schema["properties"]).items()
    )
    return format_table(("field", "type", "meaning"), rows)


def _type_of(schema: object) -> str:
    """The type of a value, in words, with links to the sections of this page."""
    part = _dict(schema)
    if "$ref" in part:
        name = str(part["$ref"]).rsplit("/", 1)[1]
        return f"[{name}](#{name})"
    if "const" in part:
        return f"`{json.dumps(part['const'])}`"
    if "enum" in part:
        return " or ".join(f"`{json.dumps(value)}`" for value in _list(part["enum"]))
    if "anyOf" in part:
        return " or ".join(_type_of(each) for each in _list(part["anyOf"]))
    if "if" in part and "then" in part:
        return " or ".join(_alternatives(part))
    if part.get("type") == "array":
        return f"list of {_type_of(part['items'])}" if part.get("items") else "three counts"
    if "additionalProperties" in part and part["additionalProperties"] is not False:
        return f"object: name → {_type_of(part['additionalProperties'])}"
    if "properties" in part:
        fields = (
            f"`{name}`: {_type_of(field)}" for name, field in _dict(part["properties"]).items()
        )
        return f"object of {'; '.join(fields)}"
    kind = part.get("type")
    return " or ".join(map(str, _list(kind))) if isinstance(kind, list) else str(kind)


def _alternatives(schema: Json) -> Iterator[str]:
    if "if" not in schema:
        yield _type_of(schema)
        return
    kind = {key: value for key, value in _dict(schema["if"]).items() if key == "type"}
    yield from _alternatives({**kind, **_dict(schema["then"])})
    yield from _alternatives(_dict(schema["else"]) if "else" in schema else {})


BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
}


def _meaning(schema: object, named: Json) -> str:
    part = _dict(schema)
    text = str(part.get("description") or _described_there(part, named))
    bounds = ", ".join(
        words.format(f"{part[key]:,}") for key, words in BOUNDS.items() if key in part
    )
    return f"{format_cell(text)} ({bounds})".strip() if bounds else format_cell(text)


def _described_there(part: Json, named: Json) -> object:
    """The description in the definition that a value, or an element of a list, refers to."""
    options = [part, part.get("items"), *_list(part.get("anyOf"))]
    for option in options:
        if isinstance(option, dict) and "$ref" in option:
            return _dict(named[str(option["$ref"]).rsplit("/", 1)[1]]).get("description", "")
    return ""


def _dict(value: object) -> Json:
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def make_cuda_functions() -> str:
    nvcc = find_toolchain(prefer_wheel=True, cache=CACHE).nvcc
    include = header_folder(nvcc)
    return f"""\
# Functions of CUDA

A program under `grade exec` calls these functions of `libcudart.so.13` and `libcuda.so.1`. The
other functions of the toolkit's headers return `cudaErrorNotSupported` or
`CUDA_ERROR_NOT_SUPPORTED`, and print their name once on stderr. The list of these is from
CUDA {nvcc.version.rpartition(".")[0]}.

{"".join(_make_library(library, include) for library in LIBRARIES)}""".rstrip()


def _make_library(library: Library, include: Path) -> str:
    rows = read_functions(library)
    versions = read_versions(include)
    cells = (
        (f"`{row.name}`", _first_version(row, versions), format_cell(row.behaviour)) for row in rows
    )
    others = ", ".join(f"`{name}`" for name in unsupported_names(library, include))
    return f"""\
## {library.title}: {len(rows)} functions

{format_table(("Function", "Since CUDA", "Behaviour"), cells)}

### {library.title}: not supported

{others}.

"""


def _first_version(row: Function, versions: Mapping[str, Sequence[int]]) -> str:
    if row.since:
        return row.since
    first = versions[row.name][0]
    return f"{first // 1000}.{first % 1000 // 10}"


PAGES: dict[str, Callable[[], str]] = {
    "causes": make_causes,
    "commands": make_commands,
    "corpus": make_corpus,
    "cuda-functions": make_cuda_functions,
    "gpus": make_gpus,
    "metrics": make_metrics,
    "model-errors": make_errors,
    "opcodes": make_opcodes,
    "score-schema": make_score_schema,
    "spec-schema": make_spec_schema,
    "statuses": make_statuses,
}


# --- the picture of a report ----------------------------------------------------------------------


def draw_report() -> str:
    """A real report as SVG: the transpose's starter on the emulated device, from seed 1."""
    import io

    from grader import grade
    from grader.report.score_page import print_score
    from grader.report.terminal import make_console

    score = grade(
        ROOT / "exercises" / "transpose",
        ROOT / "starter" / "transpose.cu",
        device="emulated",
        seed=1,
    )
    console = make_console(
        io.StringIO(), environ={"FORCE_COLOR": "1", "TERM": "xterm-256color"}, width=100
    )
    console.record = True
    print_score(score, console=console)
    return draw_terminal(console, "The report on starter/transpose.cu")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", action="store_true")
    options = parser.parse_args()
    for name, text in make_schemas().items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")
    REFERENCE.mkdir(exist_ok=True)
    for name in PAGES:
        (REFERENCE / f"{name}.md").write_text(make_page(name), encoding="utf-8")
    if options.picture:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(draw_report(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
