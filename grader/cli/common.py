"""Shared parts of the subcommands: arguments, names of exercises, and safe printing."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from grader.cpp.cursor import did_you_mean
from grader.errors import GraderError, UsageError
from grader.folders import shipped_exercises
from grader.records import Options
from grader.report.text import clean_text


class Parser(argparse.ArgumentParser):
    """A parser that suggests a known option for an unknown option."""

    def error(self, message: str) -> NoReturn:
        """argparse's message, with the option that is most similar to the first unknown option."""
        _, is_unknown, names = message.partition("unrecognized arguments: ")
        unknown = next((name for name in names.split() if name.startswith("--")), "")
        if is_unknown and unknown:
            known = [name for name in self._option_string_actions if name.startswith("--")]
            message += did_you_mean(unknown.partition("=")[0], known)
        super().error(message)


class Command(NamedTuple):
    """A subcommand, or `grade` itself (an empty name). `run` takes the parsed arguments and returns
    the exit code. The texts above and below the options are shown without wrapping."""

    name: str
    run: Callable[[argparse.Namespace], int]
    description: str
    epilog: str = ""
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda _: None
    kind: type[Parser] = Parser

    def make_parser(self) -> argparse.ArgumentParser:
        parser = self.kind(
            prog=f"grade {self.name}".rstrip(),
            description=self.description,
            epilog=self.epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_arguments(parser)
        return parser


def join_names(names: Iterable[str], last_by: str = " or ") -> str:
    """One or more names as a list in a sentence: `a, b or c`."""
    *others, last = names
    return last_by.join([", ".join(others), last]) if others else last


Complete = Callable[[str], Iterable[str]]
"""Shell completion of an argument (cli.completion): from its beginning to all its values."""


def add_value(
    parser: argparse.ArgumentParser,
    name: str,
    metavar: str,
    text: str,
    *,
    complete: Complete | None = None,
    **more: Any,  # noqa: ANN401 - the types of `add_argument`
) -> None:
    """An argument or option with a value. `more` as for `add_argument`."""
    action = parser.add_argument(name, metavar=metavar, help=text, **more)
    if complete is not None:
        action.completer = (  # type: ignore[attr-defined]  # argcomplete reads it
            lambda prefix, **_: list(complete(prefix))
        )


def add_values(parser: argparse.ArgumentParser, name: str, metavar: str, text: str) -> None:
    """An option that can be given several times."""
    add_value(parser, name, metavar, text, action="append", default=[])


def add_flag(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    """An option without a value."""
    parser.add_argument(name, action="store_true", help=text)


def add_exercise(parser: argparse.ArgumentParser) -> None:
    text = "the exercise's folder, or a name in ./exercises or in `grade list`"
    add_value(parser, "exercise", "EXERCISE", text, complete=complete_exercise)


def add_submission(parser: argparse.ArgumentParser, text: str) -> None:
    add_value(parser, "submission", "SUBMISSION.cu", text, complete=complete_source)


def add_results(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "folder", "DIR", "the results of `grade batch --out`")


def add_device(
    parser: argparse.ArgumentParser,
    text: str = "auto (the default), emulated[:ID] or gpu[:N]",
    default: str = "auto",
) -> None:
    add_value(parser, "--device", "DEVICE", text, complete=complete_device, default=default)


def add_annotate(parser: argparse.ArgumentParser) -> None:
    add_flag(parser, "--annotate", "also print the source with the cost of each line")


def complete_exercise(prefix: str) -> list[str]:
    """The known exercises, and folders."""
    return [*known_exercises(), *_complete_path(prefix, "")]


def complete_source(prefix: str) -> list[str]:
    """.cu files, and folders."""
    return _complete_path(prefix, ".cu")


def _complete_path(prefix: str, suffix: str) -> list[str]:
    """The folders that continue a path, with a slash, and the files with this suffix."""
    folder, _, start = prefix.rpartition("/")
    root = f"{folder}/" if folder or prefix.startswith("/") else ""
    try:
        there = sorted(Path(root).expanduser().iterdir())
    except OSError:
        return []
    shown = [path for path in there if not path.name.startswith(".") or start.startswith(".")]
    folders = [f"{root}{path.name}/" for path in shown if path.is_dir()]
    return folders + [f"{root}{path.name}" for path in shown if suffix and path.suffix == suffix]


def complete_device(_: str) -> list[str]:
    """The devices. Only a driver knows the numbers of GPUs."""
    from grader.devices.gpus import read_gpus

    return ["auto", "gpu", "emulated", *(f"emulated:{name}" for name in read_gpus())]


def add_seed(parser: argparse.ArgumentParser, default: str = "a new seed") -> None:
    text = f"draw hidden cases and inputs from this seed (default: {default})"
    add_value(parser, "--seed", "N", text, type=int)


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    add_value(parser, "--json", "FILE", f"write {what} as JSON; - prints only the JSON")


def read_options(options: argparse.Namespace) -> Options:
    """The options of a grading. An argument that the command does not have gets its default."""
    given = vars(options)
    return Options(
        given.get("device", "auto"),
        given.get("seed"),
        isolated=not given.get("no_isolation", False),
        model=not given.get("no_model", False),
    )


def seed_of(options: argparse.Namespace) -> int:
    """The seed of `--seed`, or a new seed."""
    from grader.grading.grade import SEED_BITS, check_seed

    return secrets.randbits(SEED_BITS) if options.seed is None else check_seed(options.seed)


def add_no_isolation(parser: argparse.ArgumentParser) -> None:
    text = "compile without bubblewrap or Landlock: for code that you trust"
    add_flag(parser, "--no-isolation", text)


def add_no_model(
    parser: argparse.ArgumentParser,
    text: str = "exclude the times from the points on the emulated device: faster",
) -> None:
    add_flag(parser, "--no-model", text)


def add_new_file(parser: argparse.ArgumentParser, metavar: str, text: str) -> None:
    """`-o FILE` for a new file, and `--force`, which replaces an existing file."""
    parser.add_argument("-o", "--output", required=True, metavar=metavar, help=text)
    add_flag(parser, "--force", "replace an existing file")


def new_file(options: argparse.Namespace, what: str) -> Path:
    """The file of `-o`. Raises UsageError if it exists without `--force`, or cannot be written."""
    target = Path(options.output)
    if target.exists() and not options.force:
        raise UsageError(f"{target} exists", "Name another file, or use --force to replace it.")
    check_target(options.output, what)
    return target


def find_exercise(name: str) -> Path:
    """The folder of an exercise: the path if it exists or has a slash, else `./exercises/NAME`,
    else the grader's exercise of this name. Raises UsageError for an unknown name."""
    path = Path(name)
    if path.name != name or path.exists():
        return path
    found = known_exercises()
    if name not in found:
        raise UsageError(
            f"there is no exercise {name!r} in ./exercises or in the grader"
            f"{did_you_mean(name, found)}",
            f"{_list_named('Exercises', found)}\nOr give an exercise's folder.",
        )
    return found[name]


def check_first_word(word: str, commands: Iterable[str]) -> None:
    """Raises UsageError for a first word that is neither a command nor an exercise: a misspelt
    command, or a file instead of the exercise."""
    path, exercises = Path(word), known_exercises()
    listed = _list_named("Exercises", exercises)
    if path.suffix == ".cu" and not path.is_dir():
        of = path.stem if path.stem in exercises else "EXERCISE"
        raise UsageError(
            f"{word} is not an exercise: the exercise comes first", f"grade {of} {word}\n{listed}"
        )
    if word.startswith("-") or path.name != word or path.exists() or word in exercises:
        return
    known = (*commands, *exercises)
    raise UsageError(
        f"there is no command and no exercise {word!r}{did_you_mean(word, known)}",
        f"{_list_named('Commands', commands)}\n{listed}",
    )


def _list_named(title: str, names: Iterable[str]) -> str:
    """`Exercises: a, b, c`, in lines of at most 79 columns."""
    return textwrap.fill(f"{title}: {', '.join(names) or 'none'}", 79, subsequent_indent="  ")


def known_exercises() -> dict[str, Path]:
    """The exercises' folders by name. An exercise in ./exercises hides the grader's exercise of the
    same name."""
    return {folder.name: folder for folder in (*shipped_exercises(), *local_exercises())}


def local_exercises() -> tuple[Path, ...]:
    """The folders in `./exercises`, sorted by name."""
    return tuple(sorted(path for path in Path("exercises").glob("*") if path.is_dir()))


class ParserEndedError(Exception):
    """argparse has printed its text: 0 after --help and --version, 2 after a usage error."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def parse_arguments(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> argparse.Namespace:
    """The parsed arguments, with the whole command line as `command`."""
    try:
        options = parser.parse_args(arguments)
        options.command = shlex.join([*parser.prog.split(), *arguments])
        return options
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 2
    with printing():
        raise ParserEndedError(code)


def check_target(target: str | None, what: str = "the JSON") -> None:
    """Raises UsageError before the long work if a file cannot be written. `-` is no file."""
    if target in (None, "-"):
        return
    try:
        trouble = _find_trouble(str(target))
    except (OSError, RuntimeError) as error:  # a long name, a loop of links
        trouble = str(error)
    if trouble:
        raise UsageError(
            f"cannot write {what} to {str(target)!r}: {trouble}",
            "Name a file in a folder that you may write to.",
        )


def refuse_annotated_json(options: argparse.Namespace) -> None:
    """Raises UsageError for JSON and a source or machine code on standard output."""
    page = "--annotate" if options.annotate else "--sass" if options.sass else ""
    if page and options.json == "-":
        raise UsageError(
            f"{page} and --json - both print on standard output",
            "Write the JSON to a file: --json FILE.",
        )


def _find_trouble(target: str) -> str:
    if not target:
        return "the name is empty"
    path = Path(target)
    if path.is_dir():
        return "it is a folder"
    # A pipe or a device, also through a link in /dev, is written directly.
    if path.exists() and not path.is_file():
        return "" if os.access(path, os.W_OK) else "it may not be written to"
    folder = path.resolve().parent
    if not folder.is_dir():
        return "its folder does not exist"
    try:  # a new file replaces the old, so the folder must be writable
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"no file can be created in its folder: {error.strerror}"


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Flushes the printed text. Raises GraderError if it cannot be written."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_stdout()
        raise GraderError(
            f"cannot write to standard output: {error.strerror}",
            "Send the output to a disk with free space.",
        ) from error


def print_report(print_it: Callable[..., None], *facts: object, **options: object) -> None:
    """Prints facts on standard output by a function of `grader.report`."""
    from grader.report.terminal import make_console

    with printing():
        print_it(*facts, console=make_console(sys.stdout), **options)


def print_or_json(
    target: str | None,
    facts: object,
    format_json: Callable[..., str],
    print_it: Callable[..., None],
    **options: object,
) -> None:
    """Prints a report and writes its JSON to the target of `--json`; `-` prints only the JSON."""
    if target != "-":
        print_report(print_it, facts, **options)
    write_json(target, lambda: format_json(facts))


def write_json(target: str | None, format_json: Callable[[], str]) -> None:
    """Writes JSON to the target of `--json`, if it is given; `-` is standard output."""
    from grader.plumbing.atomic import write_file

    if target == "-":
        with printing():
            sys.stdout.write(format_json())
    elif target is not None:
        write_file(Path(target), format_json().encode(), "the JSON")


def print_lines(*lines: object) -> None:
    """Prints lines on standard output."""
    with printing():
        print(*lines, sep="\n")


def print_notice(text: str) -> None:
    """Prints a sentence on stderr during the work. The terminal may be closed."""
    with contextlib.suppress(OSError):
        print(clean_text(f"grade: {text}"), file=sys.stderr)


def drop_stdout() -> None:
    """Discards buffered output, so that the interpreter's final flush does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
