"""Mutants of submissions and of launch lines for fuzz.py: changed tokens, numbers and braces."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from fuzz_kernels import EDGES

from grader import grade
from grader.messages.hidden import describe_mistake
from grader.records import (
    DeviceBuffer,
    Dim3,
    Kernel,
    KernelParameter,
    LaunchLimits,
    PlanMistake,
    Role,
    Status,
    Submission,
)
from grader.submission.plan import read_plan
from grader.submission.resolve import resolve_plan

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "tests" / "submissions" / "transpose"
TEXTURED = ROOT / "tests" / "by_authors"

_TOKEN = re.compile(r"//[^\n]*|\"[^\"\n]*\"|\w+|\s+|<<<|>>>|[^\w\s]")
_LAUNCH = re.compile(r"// *launch:[^\n]*")


def run_source(graded: Mapping[Path, Sequence[Path]], rng: Random) -> str:
    """Grades a mutant of an exercise's submissions. Returns its status; raises AssertionError for
    an error of the grader."""
    exercise = rng.choice(list(graded))
    text = mutate_source(rng.choice(graded[exercise]).read_text(encoding="utf-8"), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.cu"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        score = grade(exercise, path, device="emulated", seed=1, cache=Path(folder) / "cache")
    if score.status is Status.GRADER_ERROR:
        raise AssertionError(f"{score.message}\n{score.detail}\n{text}")
    return score.status.value


def mutate_source(text: str, rng: Random) -> str:
    """One to four changes of tokens, numbers, braces and launch lines."""
    for _ in range(rng.randint(1, 4)):
        tokens = _TOKEN.findall(text)
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        text = (
            "".join(rng.choice(TOKEN_MUTATIONS)(tokens, i, j, rng))
            if rng.random() < 0.75
            else mutate_launch(text, rng)
        )
    return text


def mutate_launch(text: str, rng: Random) -> str:
    def change(match: re.Match[str]) -> str:
        tokens = _TOKEN.findall(match[0][2:])
        return "//" + "".join(
            rng.choice(TOKEN_MUTATIONS)(
                tokens, rng.randrange(len(tokens)), rng.randrange(len(tokens)), rng
            )
        )

    return _LAUNCH.sub(change, text)


def _replace_number(tokens: list[str], i: int, j: int, rng: Random) -> list[str]:
    numbers = [place for place, token in enumerate(tokens) if token.isdigit()]
    if numbers:
        tokens[rng.choice(numbers)] = str(rng.choice(EDGES))
    return tokens


TOKEN_MUTATIONS: tuple[Callable[[list[str], int, int, Random], list[str]], ...] = (
    lambda tokens, i, j, rng: tokens[:i] + tokens[i + 1 :],
    lambda tokens, i, j, rng: [*tokens[:i], tokens[i], *tokens[i:]],
    lambda tokens, i, j, rng: [*tokens[:i], tokens[j], *tokens[i + 1 :]],
    lambda tokens, i, j, rng: [*tokens[:i], rng.choice("{}()[];,<>*&-!~%/\"'\\#"), *tokens[i:]],
    _replace_number,
    _replace_number,
)


def small_exercise(folder: Path, name: str, source: Path) -> Path:
    """The exercise of this name in `source`, with small benchmark sizes."""
    exercise = folder / "exercises" / name
    shutil.copytree(source / "exercises" / name, exercise)
    shutil.copytree(source / "starter", folder / "starter", dirs_exist_ok=True)
    spec = json.loads((exercise / "spec.json").read_text(encoding="utf-8"))
    spec["benchmark"] = {
        device: dict.fromkeys(sizes, 64) for device, sizes in spec["benchmark"].items()
    }
    (exercise / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return exercise


def graded_sources(folder: Path) -> dict[Path, list[Path]]:
    """Submissions for mutants, by exercise: transposes, and reads of a texture."""
    return {
        small_exercise(folder, "transpose", ROOT): sorted(SOURCES.glob("*.cu")),
        small_exercise(folder, "half_size", TEXTURED): sorted(TEXTURED.glob("*/half_size.cu")),
    }


# --- launch lines ---------------------------------------------------------------------------------

STATEMENTS = (
    "step<<<dim3(ceil_div(n, TILE), 2), dim3(TILE, 4), 4 * n>>>(out, n)",
    "for (int d = 1; d < n; d *= 2) { step<<<1, d>>>(out, d); std::swap(out, in); }",
    "int i = n; while (i > 1) { i /= 2; if (i % 3 == 0) continue; step<<<1, 32>>>(out + i, i); }",
    "while (n > 0 && n != 5) { --n; n -= 7; }",
    "const dim3 block(16, min(n, 8)); step<<<n >> 2, block, 0, 0>>>(&out[3], n > 5 ? 1 : -1);",
    "float *a = out, *b = out + 50; std::swap(a, b); step<<<1, 32>>>(a, (int)1.5f);",
    "cudaMemset(out + 1, -1, 8); cudaMemcpy(out, in, n * sizeof(float));",
    "cudaMemcpyToSymbol(weights, in, 8, 4); cudaMemcpyFromSymbol(out, ns::table)",
    "pair<float, 3><<<1, 1>>>({out, 1, 2.0f}, alpha, 0x10ull)",
    "cudaStream_t s; cudaStreamCreate(&s); step<<<1, 1, 0, s>>>(out, 1); cudaDeviceSynchronize();",
    "if (n > 64) { step<<<1, 1>>>(out, 1); } else for (;;) break;",
)
HEAD = """// scratch: float W[2 * n]
struct Pair { float *p; int a; float b; };
"""
LIMITS = LaunchLimits(1024, Dim3(1024, 1024, 64), Dim3((1 << 31) - 1, 65535, 65535), 232448, 65536)
KERNELS = tuple(
    Kernel(symbol, name, parameters, 0x210, 32, 0, 0, None, ())
    for symbol, name, parameters in (
        ("_Z4stepPfi", "step", (KernelParameter(0, 8, "float*"), KernelParameter(8, 4, "int"))),
        (
            "_Z4pairIfLi3EEv",
            "pair<float, 3>",
            (
                KernelParameter(0, 24, "Pair"),
                KernelParameter(24, 8, "double"),
                KernelParameter(32, 8, "unsigned long"),
            ),
        ),
    )
)
BUFFERS = tuple(
    DeviceBuffer(name, "float32", (100,), role)
    for name, role in (("out", Role.OUTPUT), ("in", Role.INPUT))
)


def run_program(rng: Random) -> str:
    """Reads and evaluates mutated launch lines. Returns the status, or whether they are a plan."""
    lines = [rng.choice(STATEMENTS) for _ in range(rng.randint(1, 3))]
    source = "// scratch: float W[2 * n]\nstruct Pair { float *p; int a; float b; };\n"
    text = source + "".join(f"// launch: {mutate_line(line, rng)}\n" for line in lines)
    plan = read_plan(Submission("mine.cu", "", text))
    if plan is not None and not isinstance(plan, PlanMistake):
        plan = resolve_plan(
            plan,
            sizes={"n": rng.choice([100, *EDGES[:20]])},
            macros={"TILE": 16},
            buffers=BUFFERS,
            kernels=KERNELS,
            limits=LIMITS,
            source=text,
            scalars={"alpha": 0.5},
            symbols={"weights": 40, "_ZN2ns5tableE": 16},
        )
    if isinstance(plan, PlanMistake):
        return describe_mistake(plan).status.value
    return "none" if plan is None else "a plan"


def mutate_line(line: str, rng: Random) -> str:
    """Up to five changes of tokens, some of which come from another line."""
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        tokens, other = _TOKEN.findall(line) or [""], _TOKEN.findall(rng.choice(STATEMENTS))
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        if rng.random() < 0.25:
            tokens[i] = rng.choice(other)
            line = "".join(tokens)
        else:
            line = "".join(rng.choice(TOKEN_MUTATIONS)(tokens, i, j, rng))
    return line.replace("\n", " ")
