"""Who may ask for files: plain `__has_include(<header>)`, and nobody else."""

from __future__ import annotations

import pytest

from grader.records import Evaded, Evasion
from grader.submission.lookups import check_lookups


@pytest.mark.parametrize(
    "text",
    [
        "#if __has_include(<cuda_fp16.h>)\n#endif",
        '#if defined(__has_include) && __has_include ( "cub/cub.cuh" )\n#endif',
        "#ifdef __has_include\n#if __has_include(<cuda/std/array>)\n#endif\n#endif",
        "#ifndef __has_include\n#endif",
        '// asks __has_include("/etc/passwd")',
        '/* __has_include("/etc/passwd") */',
        'const char* text = "__has_include";',
        "#define JOIN(a, b) a##b\nint JOIN(tile_, 32);",
        "int has_next, include, _tile; // __h ## _",
        "int dependency; // GCC",
        "int __has = f(1);",
    ],
)
def test_honest_code_passes(text: str) -> None:
    assert check_lookups(text) is None


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (Evasion.ODD_OPERAND, '#if __has_include("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, "#if __has_include(</etc/passwd>)\n#endif"),
        (Evasion.ODD_OPERAND, '#if __has_include("../solutions/transpose.cu")\n#endif'),
        (Evasion.ODD_OPERAND, "#if __has_include(<a/../../b>)\n#endif"),
        (Evasion.ODD_OPERAND, "#if __has_include(<a//b>)\n#endif"),
        (Evasion.ODD_OPERAND, "#define FILE <x>\n#if __has_include(FILE)\n#endif"),
        (Evasion.ODD_OPERAND, '#if __has_\\\ninclude("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, '#if __has_include/* */("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, '#if __has_include_next("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, '#if _CCCL_HAS_INCLUDE("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, "#if __has_include"),
        (Evasion.MADE_NAME, '#define J(a, b) a##b\n#if J(__has_, include)("/etc/passwd")\n#endif'),
        (Evasion.MADE_NAME, '#define J(a, b) a##b\n#if J(_, _has_include)("/etc/passwd")\n#endif'),
        (
            Evasion.MADE_NAME,
            '#define J(a, b) a%:%:b\n#if J(__h, as_include)("/etc/passwd")\n#endif',
        ),
        (Evasion.MADE_NAME, '#if __CONCAT(__ha, s_include)("/etc/passwd")\n#endif'),
        (Evasion.MADE_NAME, '#define J(a, b) a##b\n#if J(__has_i, nclude)("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, '$R"(" \n#if __has_include("/etc/passwd")\n#endif\n")"'),
        (Evasion.ODD_OPERAND, '#define has __has_include\n#if has("/etc/passwd")\n#endif'),
        (Evasion.ODD_OPERAND, '#if __has_embed("/etc/passwd")\n#endif'),
        (Evasion.MADE_NAME, '#if __CONCAT(__has_inc, lude)("/etc/passwd")\n#endif'),
        (Evasion.DEPENDENCY, '#pragma GCC dependency "/etc/passwd"'),
        (Evasion.DEPENDENCY, '_Pragma("GCC dependency \\"/etc/passwd\\"")'),
    ],
)
def test_what_asks_for_files_is_refused(how: Evasion, text: str) -> None:
    assert check_lookups(text) == Evaded(how)
