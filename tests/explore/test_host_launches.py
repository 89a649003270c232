"""The launch language in C++: what g++ makes of an expression is what the grader computes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader.cpp.expressions import parse_expression
from grader.explore.host_launches import (
    Scope,
    format_expression,
    format_launch,
    format_statement,
)
from grader.records import DeviceBuffer, Kernel, KernelParameter, Role
from grader.spec.launch_lines import parse_launch
from grader.spec.program import PlanLine, parse_program

SIZES = {"rows": 70001, "cols": 33}
MACROS = {"TILE": 32, "HUGE": 2000000000, "NEGATIVE": -7}
EXPRESSIONS = (
    "rows",
    "ceil_div(cols, TILE)",
    "ceil_div(NEGATIVE, 2)",
    "NEGATIVE / 2",
    "NEGATIVE % 4",
    "HUGE * TILE",
    "HUGE + HUGE",
    "-HUGE - HUGE",
    "65536 * 65536",
    "(rows + TILE) * (HUGE - 1)",
    "--TILE",
    "+ +TILE",
    "- -(TILE - 1)",
    "min(rows, TILE) * max(cols, 0x20)",
    "rows * rows * rows",
    "TILE / 3 * 3 - (TILE - 3)",
    "012 + 0b11 + 7u",
    "min(HUGE * 2, 1ull)",
    "10 - 3 - 2",
    "64 / (8 / 2)",
)
PROGRAM = """\
#include <cstdio>
using Size = long long;
Size ceil_div(Size a, Size b) { return a / b + (a % b > 0); }
Size min(Size a, Size b) { return a < b ? a : b; }
Size max(Size a, Size b) { return a > b ? a : b; }
"""


def test_expressions_have_the_graders_values(tmp_path: Path) -> None:
    macros = "".join(f"#define {name} ({value})\n" for name, value in MACROS.items())
    sizes = "".join(f"Size {name} = {value};\n" for name, value in SIZES.items())
    parsed = [parse_expression(text) for text in EXPRESSIONS]
    values = "".join(
        f'std::printf("%lld\\n", Size({format_expression(expression, MACROS)}));\n'
        for expression in parsed
    )
    source, program = tmp_path / "values.cpp", tmp_path / "values"
    source.write_text(f"{PROGRAM}{macros}{sizes}int main() {{ {values} }}\n")
    subprocess.run(
        ["g++", "-fsanitize=undefined", "-fno-sanitize-recover", "-o", program, source], check=True
    )
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == [
        expression.evaluate({**SIZES, **MACROS}) for expression in parsed
    ]


def test_what_fits_stands_as_it_was_written() -> None:
    assert (
        format_expression(parse_expression("ceil_div(cols,TILE) * 2"), MACROS)
        == "ceil_div(cols,TILE) * 2"
    )
    assert format_expression(parse_expression("HUGE * TILE"), MACROS) == "Size(HUGE) * Size(TILE)"


def kernel(name: str, *types: str | None) -> Kernel:
    parameters = tuple(KernelParameter(8 * number, 8, type_) for number, type_ in enumerate(types))
    return Kernel(name, name, parameters, 0, 16, 0, 0, None, ())


@pytest.mark.parametrize(
    ("line", "found", "wanted"),
    [
        ("k<<<1, 32>>>(out, cols)", kernel("k", "float*", "int"), "k<<<1, 32>>>(out, cols);"),
        (
            "k<<<1, 32>>>(out, cols)",
            kernel("k", "float const*", "long"),
            "k<<<1, 32>>>(out, cols);",
        ),
        (
            "k<<<1, 32>>>(out, cols)",
            kernel("ns::k", "float4*", "int"),
            "ns::k<<<1, 32>>>(reinterpret_cast<float4*>(out), cols);",
        ),
        ("k<<<1, 32>>>(out)", kernel("(anonymous namespace)::k", "float*"), "k<<<1, 32>>>(out);"),
        ("k<<<1, 32>>>(out)", kernel("k", None), "k<<<1, 32>>>(AnyPointer{out});"),
        ("median<<<1, 32>>>(out)", kernel("median", "float*"), "::median<<<1, 32>>>(out);"),
        ("k<TILE, 8><<<1, 32>>>(out)", kernel("k<32, 8>", "float*"), "k<TILE, 8><<<1, 32>>>(out);"),
        ("k<TILE><<<1, 32>>>(out)", kernel("k<32, 8>", "float*"), "k<32, 8><<<1, 32>>>(out);"),
        ("k<cols><<<1, 32>>>(out)", kernel("k<33>", "float*"), "k<33><<<1, 32>>>(out);"),
        (
            "k<T, true><<<dim3(1, 2), 32>>>(out)",
            kernel("k<float, (bool)1>", "float*"),
            "k<float, (bool)1><<<dim3(1, 2), 32>>>(out);",
        ),
    ],
)
def test_a_launch(line: str, found: Kernel, wanted: str) -> None:
    scope = Scope(
        MACROS, {"out": DeviceBuffer("out", "float32", (33,), Role.OUTPUT)}, frozenset({"median"})
    )
    assert format_launch(parse_launch(line), found, scope) == [wanted]


def test_a_loop_that_asks_behind_its_body() -> None:
    (loop,) = parse_program([PlanLine("do { d *= 2; } while (d < n);", 1, 1)])
    lines = format_statement(loop, Scope({}, {}, frozenset()))
    assert lines == ["do {", "    d *= 2;", "} while (d < n);"]
