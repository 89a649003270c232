"""Files with a main are programs: `grade run` executes them, and `grader.run` names `grade exec`."""

from __future__ import annotations

import pytest

import grader
from grader.cpp.declarations import has_main

KERNEL = "__global__ void one(int *x) { *x = 1; }\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (KERNEL, False),
        (KERNEL + "int main() { return 0; }", True),
        (KERNEL + "int\nmain (int argc, char **argv)\n{\n}", True),
        ("// int main()\n" + KERNEL, False),
        ('__device__ void f() { printf("main()"); main(); }', False),
        ("int domain(int x) { return x; } int main_loop();", False),
    ],
)
def test_finds_main(source: str, expected: bool) -> None:
    assert has_main(source) is expected


@pytest.mark.parametrize("main", ["", "int main() { return 0; }\n"])
def test_a_source_without_launch_lines_fails_with_advice(main: str) -> None:
    with pytest.raises(grader.SubmissionError, match="has no launch line") as raised:
        grader.run(KERNEL + main, outputs={"x": ("int32", (1,))})
    assert ("grade exec" in raised.value.advice) is bool(main)
