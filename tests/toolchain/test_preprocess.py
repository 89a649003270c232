"""Macros and included files, from the real preprocessor."""

from pathlib import Path
from typing import Any

import pytest

from grader.messages.hidden import describe_mistake
from grader.records import Completed, Fact, Failure, Status, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.dependencies import parse_dependencies
from grader.toolchain.nvcc import Nvcc
from grader.toolchain.preprocess import Preprocessed, keep_for_equal_directives, preprocess

from .conftest import make_submission


def run_preprocess(nvcc: Nvcc, text: str, *names: str) -> Preprocessed | Fact:
    return preprocess(
        make_submission(text), names, nvcc=nvcc, arch="sm_90", run=run_tool, limits=ToolLimits()
    )


def expand(nvcc: Nvcc, text: str, *names: str) -> dict[str, str]:
    result = run_preprocess(nvcc, text, *names)
    assert isinstance(result, Preprocessed), result
    return dict(result.macros)


def fail(nvcc: Nvcc, text: str) -> Failure:
    result = run_preprocess(nvcc, text, "TILE")
    assert not isinstance(result, Preprocessed), result
    return describe_mistake(result)


def test_macros_are_fully_expanded_and_undefined_ones_are_absent(nvcc: Nvcc) -> None:
    text = "#define BASE 8\n#define TILE (BASE * 4)\n#define EMPTY\n#define GONE 1\n#undef GONE\n"
    assert expand(nvcc, text, "TILE", "EMPTY", "GONE", "NEVER") == {"TILE": "(8 * 4)", "EMPTY": ""}


def test_conditions_are_those_of_the_device_compilation(nvcc: Nvcc) -> None:
    text = (
        "#if __CUDA_ARCH__ >= 900 && defined(__OPTIMIZE__)\n#define TILE 64\n#else\n#define TILE"
        " 16\n#endif\n"
    )
    assert expand(nvcc, text, "TILE") == {"TILE": "64"}


def test_a_macro_of_a_system_header_is_expanded(nvcc: Nvcc) -> None:
    assert expand(nvcc, "#include <climits>\n#define TILE CHAR_BIT\n", "TILE") == {"TILE": "8"}


def test_a_macro_that_a_comment_or_a_string_mentions_is_not_defined(nvcc: Nvcc) -> None:
    assert (
        expand(nvcc, '/*\n#define TILE 1\n*/ const char* s = R"(\n#define TILE 2\n)";', "TILE")
        == {}
    )


@pytest.mark.parametrize(
    "end", ["", "\n", "\\", "// comment \\", "/* closed */", "#define OTHER 3", "#define OTHER \\"]
)
def test_the_last_line_may_end_in_any_way(nvcc: Nvcc, end: str) -> None:
    assert expand(nvcc, f"#define TILE 32\n{end}", "TILE") == {"TILE": "32"}


def test_a_submission_cannot_write_the_markers(nvcc: Nvcc) -> None:
    text = "#define TILE 32\n__grader_macro_0 99 __grader_macro_end\n"
    assert expand(nvcc, text, "TILE") == {"TILE": "32"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("int a;\n#include <no_such_header.h>\n", 2, "no_such_header.h"),
        ("int a;\n\n#error this is wrong\n", 3, "this is wrong"),
        ("int a;\n#if 1\nint b;\n", 2, "unterminated #if"),
        ("int a;\nint b; /* open\n", 2, "unterminated comment"),
        ('int a;\nauto s = R"(open\n', 2, "unterminated raw string"),
    ],
)
def test_what_the_preprocessor_refuses_is_a_compile_error_with_its_line(
    nvcc: Nvcc, text: str, line: int, words: str
) -> None:
    failure = fail(nvcc, text)
    assert failure.status is Status.COMPILE_ERROR
    assert f"student.cu:{line}: " in failure.detail
    assert words in failure.message
    assert "/" not in failure.message.replace("/*", "")


def test_included_files_are_listed_by_their_real_paths(nvcc: Nvcc, tmp_path: Path) -> None:
    secret, link = tmp_path / "secret file.h", tmp_path / "link.h"
    secret.write_text("int secret;\n")
    link.symlink_to(secret)
    result = run_preprocess(nvcc, f'#include <cstdio>\n#include "{link}"\n')
    assert isinstance(result, Preprocessed)
    assert result.files[-1] == str(secret)
    assert any(file.endswith("/cstdio") for file in result.files)
    assert all(Path(file).is_absolute() for file in result.files)
    assert not any(file.endswith(".cu") for file in result.files)


def test_a_line_directive_does_not_hide_an_include(nvcc: Nvcc, tmp_path: Path) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("int secret;\n")
    text = f'#line 1 "/usr/include/stdio.h"\n#include "{secret}"\n#line 1 "/usr/include/stdio.h"\n'
    result = run_preprocess(nvcc, text)
    assert isinstance(result, Preprocessed)
    assert str(secret) in result.files


@pytest.mark.parametrize(
    "text",
    [
        '#define H #\nH include "x.h"\n',
        '#define H %:\n H include "x.h"\n',
        '#define H #\nauto x = $R"("\nH include "x.h"\n")";',
    ],
)
def test_a_directive_out_of_a_macro_is_refused(nvcc: Nvcc, text: str) -> None:
    failure = fail(nvcc, text)
    assert failure.status is Status.REJECTED
    assert "out of macros" in failure.message


def test_a_directive_in_a_raw_string_is_text(nvcc: Nvcc) -> None:
    assert expand(
        nvcc, '#define TILE 32\nconst char* text = R"x(\n#include "x.h"\n)x";\n', "TILE"
    ) == {"TILE": "32"}


def test_an_error_in_a_foreign_file_is_a_rejection_that_shows_nothing_of_it(
    nvcc: Nvcc, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("#error the password is swordfish\n")
    failure = fail(nvcc, f'#include "{secret}"\n')
    assert failure.status is Status.REJECTED
    assert "swordfish" not in repr(failure)
    assert str(tmp_path) not in repr(failure)


def test_a_foreign_macro_does_not_show_in_the_name_of_a_missing_header(
    nvcc: Nvcc, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text('#define PASSWORD "swordfish"\n')
    failure = fail(nvcc, f'#include "{secret}"\n#include PASSWORD\n')
    assert failure.status is Status.REJECTED
    assert "swordfish" not in repr(failure)


def test_an_endless_file_runs_into_the_memory_limit(nvcc: Nvcc) -> None:
    result = preprocess(
        make_submission('#include "/dev/zero"\n'),
        (),
        nvcc=nvcc,
        arch="sm_90",
        run=run_tool,
        limits=ToolLimits(memory_bytes=300 << 20),
    )
    assert not isinstance(result, Preprocessed)
    failure = describe_mistake(result)
    assert failure.status is Status.COMPILE_ERROR
    assert "memory" in failure.message


def test_make_rules_are_unescaped() -> None:
    text = (
        "all: a.cu /usr/include/x.h \\\n /odd/with\\ space.h /odd/with\\#hash.h \\\n"
        " /odd/with$$dollar.h\n"
    )
    assert parse_dependencies(text) == (
        "a.cu",
        "/usr/include/x.h",
        "/odd/with space.h",
        "/odd/with#hash.h",
        "/odd/with$dollar.h",
    )


def test_what_was_preprocessed_is_kept_by_text_and_names(nvcc: Nvcc, tmp_path: Path) -> None:
    runs = 0

    def count(*args: Any, **kwargs: Any) -> Completed:  # noqa: ANN401 - as run_tool's
        nonlocal runs
        runs += 1
        return run_tool(*args, **kwargs)

    def look(text: str, name: str) -> Preprocessed | Fact:
        return preprocess(
            make_submission(text),
            [name],
            nvcc=nvcc,
            arch="sm_90",
            run=count,
            limits=ToolLimits(),
            cache=tmp_path,
        )

    text = "#include <climits>\n#define TILE CHAR_BIT\n"
    first = look(text, "TILE")
    assert isinstance(first, Preprocessed)
    assert first.files
    assert look(text, "TILE") == first
    assert runs == 1
    assert look(text, "CHAR_MAX") != first
    assert look(text + "\n", "TILE") == first
    assert runs == 3
    for entry in tmp_path.iterdir():
        entry.write_bytes(b"damaged")
    assert look(text, "TILE") == first
    assert runs == 4
    for _ in range(2):  # what fails is looked at again
        assert not isinstance(look("#error no\n", "TILE"), Preprocessed)
    assert runs > 7


def test_a_source_with_the_same_directives_takes_the_kept_result(
    nvcc: Nvcc, tmp_path: Path
) -> None:
    first, other = (make_submission(f"#define TILE 32\nint a = {n};\n") for n in (1, 2))
    common: dict[str, Any] = {"nvcc": nvcc, "arch": "sm_90", "cache": tmp_path}

    def run_never(*args: object, **_: object) -> Completed:
        raise AssertionError(args)

    keep_for_equal_directives(first, [other], ["TILE"], **common)
    assert not list(tmp_path.iterdir())
    kept = preprocess(first, ["TILE"], run=run_tool, limits=ToolLimits(), **common)
    keep_for_equal_directives(first, [other], ["TILE"], **common)
    assert preprocess(other, ["TILE"], run=run_never, limits=ToolLimits(), **common) == kept
