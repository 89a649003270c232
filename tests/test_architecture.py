"""Rules that no single file shows: which package may import which, the one home of each heavy
library, and the longest file and function."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

STAGES = {
    "cpp",
    "spec",
    "submission",
    "toolchain",
    "devices",
    "emulator",
    "plumbing",
    "judging",
    "messages",
    "report",
    "sandbox",
    "batch",
    "similar",
    "fixes",
}

# Every stage may import these beside itself. `devices.base` holds the Device protocol only.
SHARED = (
    "grader.records",
    "grader.metrics",
    "grader.statuses",
    "grader.errors",
    "grader.plumbing",
    "grader.sass",
    "grader.cpp",
    "grader.spec",
    "grader.devices.base",
)

# A mistake in an exercise is an exception with a sentence, also where its text is read like a
# submission's.
OF_EXERCISES = ("grader.spec", "grader.submission.rules")
SYNTAX = "grader.messages.syntax"

# Further imports of packages and modules.
ALSO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_EXERCISES, (SYNTAX,)),
    "grader.judging": ("grader.messages",),
    "grader.report": ("grader.messages",),
    "grader.messages.explanations": ("grader.emulator.timing.bounds",),
    "grader.devices.emulated": ("grader.emulator",),
    "grader.devices.gpus": ("grader.emulator.timing.figures",),
    "grader.devices.remote.zygote": ("grader.sandbox",),
    "grader.batch.tasks": ("grader.grading.grade", "grader.grading.tools", "grader.report.json"),
    "grader.batch.cluster": ("grader.devices.remote",),
}

# Facts become sentences last: only these import `messages`.
USE_MESSAGES = (
    "grader.messages",
    "grader.judging",
    "grader.report",
    "grader.grading",
    "grader.explore",  # `grade run` ends with sentences, without a grading
    "grader.cuda",  # so does `grade exec`
    "grader.editor",
    "grader.pytest_plugin",
    "grader.doctor",
)

# Stages that return facts, and the records with sentences that they must not import.
FACTUAL = (
    "grader.batch",
    "grader.cpp",
    "grader.devices",
    "grader.emulator",
    "grader.grading.measure",
    "grader.spec",
    "grader.submission",
    "grader.toolchain",
)
WITH_SENTENCES = {"Failure", "Finding"}

# Leaves import nothing of grader beyond these.
LEAVES: dict[str, tuple[str, ...]] = {
    "grader.statuses": (),
    "grader.records": ("grader.records", "grader.statuses", "grader.sass"),
    "grader.errors": (),
    "grader.lti": ("grader.errors",),
    "grader.metrics": ("grader.records",),
    "grader.plumbing": ("grader.plumbing", "grader.records", "grader.errors"),
    "grader.sass": (),
    "grader.emulator": ("grader.emulator", "grader.sass"),
    "grader.cpp": ("grader.cpp", "grader.records"),
    "grader.spec": (
        "grader.spec",
        "grader.cpp",
        "grader.records",
        "grader.metrics",
        "grader.errors",
        SYNTAX,
    ),
    "grader.devices.base": ("grader.records",),
}

# Modules beside the stages.
TOP = {
    f"grader.{name}"
    for name in (
        "__main__",
        "doctor",
        "folders",
        "errors",
        "lti",
        "metrics",
        "pytest_plugin",
        "sass",
        "statuses",
    )
} | {"grader"}

# Packages that join stages: they may import any.
JOINTS = (
    "grader.grading",
    "grader.authoring",
    "grader.explore",
    "grader.cli",
    "grader.cuda",
    "grader.editor",
    "grader.server",
)

# The home of each heavy library; True: it loads on use, inside a function, even there.
HEAVY: dict[str, tuple[tuple[str, ...], bool]] = {
    "llvmlite": (("grader.emulator", "grader.doctor"), False),
    "rich": (("grader.report",), False),
    "elftools": (("grader.toolchain", "grader.emulator"), False),
    "jsonschema": (("grader.spec", "grader.report"), False),
    "cattrs": (("grader.plumbing", "grader.report"), False),
    "threadpoolctl": (("grader.spec",), False),
    "jinja2": (
        ("grader.report.html", "grader.explore.host_program", "grader.server.web.site"),
        False,
    ),
    "markupsafe": (("grader.report.html",), False),
    "pycuda": (("grader.devices.gpu",), False),
    "pytest": (("grader.pytest_plugin",), False),
    "pygls": (("grader.editor", "grader.cli.lsp"), False),
    "lsprotocol": (("grader.editor",), False),
    "argcomplete": (("grader.cli.completion",), True),
    "pynvml": (("grader.devices.gpu.nvml",), True),
    "cupy": (("grader.devices.gpu.library",), True),
    "torch": (("grader.devices.gpu.library",), True),
    "dask": (("grader.batch.cluster",), True),
    "distributed": (("grader.batch.cluster",), True),
    "starlette": (("grader.server.web",), False),
    "uvicorn": (("grader.server.launch",), False),
    "sqlalchemy": (("grader.server",), False),
    "alembic": (("grader.server.database", "grader.server.migrations"), False),
    "argon2": (("grader.plumbing.passwords",), False),
    "markdown_it": (("grader.report.html.markdown",), False),
    "jwt": (("grader.lti",), False),
    "cryptography": (("grader.lti",), False),
}
BASE_LIBRARIES = {"numpy"}


@dataclass(frozen=True)
class Import:
    """One import statement's target; `on_use`: inside a function; `for_types`: under
    TYPE_CHECKING."""

    module: str
    on_use: bool
    for_types: bool
    line: int


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted((ROOT / "grader").rglob("*.py"))}


@functools.cache
def tree_of(name: str) -> ast.Module:
    """A parsed module. Parsed on use, since every pytest worker imports this file."""
    return ast.parse(FILES[name].read_text(), filename=str(FILES[name]))


@functools.cache
def imports_of(name: str) -> tuple[Import, ...]:
    return tuple(_walk_imports(tree_of(name), name, on_use=False, for_types=False))


def _walk_imports(
    node: ast.AST, importer: str, *, on_use: bool, for_types: bool
) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.Import(names):
                yield from (Import(alias.name, on_use, for_types, child.lineno) for alias in names)
            case ast.ImportFrom(module, names, level):
                base = _absolute(importer, module, level)
                for alias in names:
                    target = f"{base}.{alias.name}"
                    yield Import(
                        target if target in FILES else base, on_use, for_types, child.lineno
                    )
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                yield from _walk_imports(child, importer, on_use=True, for_types=for_types)
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield from _walk_imports(child, importer, on_use=on_use, for_types=True)
            case _:
                yield from _walk_imports(child, importer, on_use=on_use, for_types=for_types)


def _absolute(importer: str, module: str | None, level: int) -> str:
    if level == 0:
        return module or ""
    is_package = FILES[importer].name == "__init__.py"
    package = importer.split(".")[: None if is_package and level == 1 else -level + is_package]
    return ".".join([*package, *([module] if module else [])])


def is_in(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def stage_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in STAGES else None


def found(imports: Iterable[tuple[str, Import]]) -> list[str]:
    """Forbidden imports as `file:line: module`."""
    return [f"{FILES[name]}:{each.line}: {each.module}" for name, each in imports]


def test_a_module_imports_only_what_its_stage_may() -> None:
    def may(name: str) -> tuple[str, ...] | None:
        stage = stage_of(name)
        if stage is None:
            return None
        also = (each for prefix, more in ALSO.items() if is_in(name, (prefix,)) for each in more)
        return (*SHARED, f"grader.{stage}", *also)

    allowed = {name: may(name) for name in FILES}
    assert not found(
        (name, each)
        for name, packages in allowed.items()
        for each in imports_of(name)
        if packages is not None
        and is_in(each.module, ("grader",))
        and not is_in(each.module, packages)
    )


def test_only_the_last_stages_use_messages() -> None:
    assert not found(
        (name, each)
        for name in FILES
        if not is_in(name, USE_MESSAGES)
        for each in imports_of(name)
        if is_in(each.module, ("grader.messages",))
        and not (is_in(name, OF_EXERCISES) and each.module == SYNTAX)
    )


def test_stages_that_return_facts_make_no_sentences() -> None:
    assert not [
        f"{FILES[name]}:{node.lineno}: {alias.name}"
        for name in FILES
        if is_in(name, FACTUAL)
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in WITH_SENTENCES
    ]


def test_a_leaf_imports_nothing_else_of_grader() -> None:
    assert not found(
        (name, each)
        for leaf, allowed in LEAVES.items()
        for name in FILES
        if is_in(name, (leaf,))
        for each in imports_of(name)
        if is_in(each.module, ("grader",)) and not is_in(each.module, allowed)
    )


def test_every_folder_is_a_package() -> None:
    """A folder without __init__.py works in a checkout and is left out of a wheel."""
    assert not {path.parent for path in FILES.values()} - {
        path.parent for path in FILES.values() if path.name == "__init__.py"
    }


def test_every_module_has_a_place() -> None:
    assert {
        name
        for name in FILES
        if stage_of(name) is None and not is_in(name, (*JOINTS, "grader.records"))
    } <= TOP


def test_heavy_libraries_stay_in_their_homes() -> None:
    """A new library gets a row in HEAVY."""
    light = {"grader", *BASE_LIBRARIES, *sys.stdlib_module_names}

    def is_at_home(name: str, each: Import) -> bool:
        homes, must_load_on_use = HEAVY.get(each.module.split(".")[0], ((), True))
        return is_in(name, homes) and (each.on_use or not must_load_on_use)

    assert not found(
        (name, each)
        for name in FILES
        for each in imports_of(name)
        if not each.for_types
        and each.module.split(".")[0] not in light
        and not is_at_home(name, each)
    )


def test_importing_grader_and_its_command_line_is_cheap() -> None:
    """Follows the top-level imports of `grader.cli`: they load at start-up."""
    reached, pending = set(), ["grader", "grader.cli"]
    libraries = set()
    while pending:
        name = pending.pop()
        if name in reached:
            continue
        reached.add(name)
        for imported in imports_of(name):
            if imported.on_use or imported.for_types:
                continue
            if imported.module in FILES:
                pending.append(imported.module)
            else:
                libraries.add(imported.module.split(".")[0])
    assert not libraries & {"numpy", *HEAVY}


def test_no_import_cycles() -> None:
    """Imports inside functions and under TYPE_CHECKING count: a cycle cannot hide there."""
    graph = {
        name: {each.module for each in imports_of(name) if each.module in FILES} - {name}
        for name in FILES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


def test_a_file_fits_a_few_screens() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in FILES.values()}
    assert not {path: length for path, length in lengths.items() if length > MAX_FILE_LINES}


def test_a_function_fits_a_screen() -> None:
    long = [
        f"{path}:{node.lineno} {node.name}: {length} lines"
        for name, path in FILES.items()
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert not long


def test_the_server_stays_small() -> None:
    files = (ROOT / "grader" / "server").rglob("*.py")
    assert sum(len(path.read_text().splitlines()) for path in files) <= 3000


def test_a_file_names_its_subject_first() -> None:
    assert not [path for name, path in FILES.items() if not ast.get_docstring(tree_of(name))]


def test_the_guide_names_every_package() -> None:
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "grader").glob("*/__init__.py")}
    modules = {path.name for path in (ROOT / "grader").glob("*.py")} - {
        "__init__.py",
        "__main__.py",
    }
    assert not {name for name in packages if f"`{name}/`" not in table}
    assert not {name for name in modules if f"`{name}`" not in table}
