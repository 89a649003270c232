"""Finds the `// launch:` and `// scratch:` lines of a submission, and reads them as its plan. A
mistake in them has its line, and a caret under its place."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, quote
from grader.cpp.expressions import Expression, parse_expression
from grader.cpp.lexer import Comment, Position, find_comments, find_names
from grader.cpp.tree import Value
from grader.cpp.types import TYPE_WORDS
from grader.records import Kernel, NoConstant, PlanMistake, Question, Submission
from grader.spec.launch_lines import LaunchLine, ScratchBuffer, TypeName, Written, parse_scratch
from grader.spec.program import PlanLine, parse_program
from grader.spec.statements import Permission, Plan, expressions_of
from grader.submission.names import has_argument

MAX_LINES = 64
"""Most launch lines, and most scratch lines, of a submission."""

_CONTEXT = 120
"""Most characters shown before and after the place of a mistake."""

LAUNCH_FORM = (
    "A launch line has the form: // launch: kernel<<<dim3(x, y), dim3(x, y),"
    " shared_bytes>>>(arguments)."
)
SCRATCH_FORM = "A scratch line has the form: // scratch: float name[number_of_elements]."
_DEFAULT_PLAN = (
    "Keep the kernel's name and parameters as the handout gives them, or write a // launch: line of"
    " your own."
)

_NO_NAMES = frozenset({"sizeof", "const", "volatile", "true", "false", "std"})
_EXACT = re.compile(r"[ \t]*(?P<keyword>launch|scratch)(?:[ \t]+(?P<part>[A-Za-z_]\w*))?:")
_NEAR = re.compile(r"/*+(?:[^\w/]|\d)*+(?P<word>[^\W\d]\w{0,15}+)(?!\w|\s*<|::)\s*[:=;]?")
"""The first word of a comment. A word directly before `<<<` names a kernel; text behind another
`//` is commented out."""

_FORMS = {"launch": LAUNCH_FORM, "scratch": SCRATCH_FORM}


def read_plan(
    submission: Submission, *, part: str | None = None, parts: Collection[str] = ()
) -> Plan | PlanMistake | None:
    """The plan in the submission's comment lines; None if there is no launch line and the default
    plan applies.

    In an exercise with `parts`, the lines `// launch NAME:` and `// scratch NAME:` are read for the
    requested `part`.
    """
    try:
        return _read_plan(submission.text, part, parts)
    except LanguageError as error:
        return launch_mistake(error, submission.text)


def macro_names(plan: Plan, known: Collection[str]) -> tuple[str, ...]:
    """The names of the plan that may be macros: all but `known` (buffers and sizes) and scratch
    buffers."""
    unknown = plan.names - set(known) - {buffer.name for buffer in plan.scratch}
    return tuple(sorted(name for name in unknown if name.isidentifier()))


def read_macros(
    plan: Plan, texts: Mapping[str, str], source: str
) -> dict[str, Value] | PlanMistake:
    """Values of the macros that the plan uses, from their expanded texts, if these are numbers; or
    a macro that is defined without a value."""
    values: dict[str, Value] = {}
    for use in _uses(plan):
        text = texts.get(use.name)
        if text is None:
            continue
        if not text.strip():
            message = f"the macro {quote(use.name)} is defined without a value"
            advice = f"Define {use.name} as a number, or write the number in the launch line."
            return plan_mistake(error_at(use.position, message, advice), use.written, source)
        with contextlib.suppress(LanguageError):
            values[use.name] = parse_expression(text).value({})
    return values


def open_questions(
    plan: Plan, known: Collection[str], kernels: Sequence[Kernel], source: str
) -> tuple[Question, ...]:
    """Questions that only the compiler can answer for a plan with these kernels: names that are not
    `known` and occur in the file, and template arguments that match no kernel literally."""
    declared = {buffer.name for buffer in plan.scratch} | plan.variables
    in_file = find_names(source)
    asked: dict[str, bool] = {}
    for use in _uses(plan):
        if use.name in known or use.name in declared:
            continue
        words = set(re.findall(r"[^\W\d]\w*", use.name)) - TYPE_WORDS - _NO_NAMES
        if not words or not words <= in_file:
            continue
        if not (use.may_be_type and has_argument(kernels, use.name)):
            asked[use.name] = asked.get(use.name, True) and use.may_be_type
    return tuple(Question(name, may_be_type) for name, may_be_type in asked.items())


def unanswered(plan: Plan, missing: NoConstant, source: str) -> PlanMistake:
    """The mistake that a name is which the compiler finds no constant."""
    use = next(use for use in _uses(plan) if use.name == missing.text)
    message = (
        f"{quote(use.name)} is no constant that the compiler can evaluate at the end of the file:"
        f" {missing.error_text}"
    )
    advice = (
        "A launch line sees #defines, and constants that are known when the file is compiled:"
        " constexpr, const int, enum, static constexpr members with their class's name."
    )
    return plan_mistake(error_at(use.position, message, advice), use.written, source)


@dataclass(frozen=True)
class _Use:
    """A name that an expression of a line uses, or a template argument that is a type."""

    name: str
    position: Position
    written: Written
    may_be_type: bool


def _uses(plan: Plan) -> Iterator[_Use]:
    for buffer in plan.scratch:
        for extent in buffer.shape:
            yield from _uses_of(extent, buffer)
    for statement in plan.every:
        template: Sequence[Expression | TypeName] = ()
        if isinstance(statement, LaunchLine | Permission):
            template = statement.kernel.template_arguments or ()
        for argument in template:
            if isinstance(argument, TypeName):
                yield _Use(argument.text, argument.position, statement, may_be_type=True)
            else:
                type_ = argument.bare_name is not None
                yield from _uses_of(argument, statement, may_be_type=type_)
        for expression in expressions_of(statement):
            if expression not in template:
                yield from _uses_of(expression, statement)


def _uses_of(
    expression: Expression, written: Written, *, may_be_type: bool = False
) -> Iterator[_Use]:
    for name in sorted(expression.names):
        yield _Use(name, expression.place_of(name), written, may_be_type)


def _read_plan(source: str, part: str | None, parts: Collection[str]) -> Plan | None:
    lines: list[PlanLine] = []
    scratch: list[ScratchBuffer] = []
    for comment in find_comments(source):
        read = _read_comment(comment, part, parts)
        if isinstance(read, PlanLine):
            lines.append(read)
        elif isinstance(read, ScratchBuffer):
            _check_new(read, scratch)
            scratch.append(read)
        if max(len(lines), len(scratch)) > MAX_LINES:
            raise _error(comment, f"there are more than {MAX_LINES} launch or scratch lines")
    statements = parse_program(lines)
    plan = Plan(statements, tuple(scratch), tuple(line.text.strip() for line in lines))
    if plan.launches:
        return plan
    if lines:
        message = "the launch lines launch no kernel"
        raise LanguageError(message, lines[0].line or 1, lines[0].column, LAUNCH_FORM)
    if scratch:
        message = "there is a scratch line, but no launch line"
        advice = "Add a // launch: line that uses the buffer, or take the scratch line out."
        raise error_at(scratch[0].position, message, advice)
    return None


def _read_comment(
    comment: Comment, part: str | None, parts: Collection[str]
) -> PlanLine | ScratchBuffer | None:
    match = _EXACT.match(comment.text) if comment.opening == "//" else None
    if match is not None and match["part"] is not None and match["part"] not in parts:
        _check_part(comment, match, parts)
        match = None
    if match is None:
        _check_near_miss(comment)
        return None
    if match["part"] != part:
        return None
    if not comment.own_line:
        _check_trailing(comment, match.end())
        return None
    if "\n" in comment.text:
        message = f"a {match[1]} line cannot be continued with a backslash"
        raise _error(comment, message, "Write it on one line, however long.")
    text, column = comment.text[match.end() :], comment.column + match.end()
    if match[1] == "launch":
        return PlanLine(text, comment.line, column)
    _check_semicolon(comment, match.end())
    return parse_scratch(text, line=comment.line, column=column)


def _check_near_miss(comment: Comment) -> None:
    """LanguageError for `// lauch: ...`, `/* launch: ... */`, `// Launch with: ...` and the like.
    Prose is left alone."""
    match = _NEAR.match(comment.text)
    if match is None or (comment.opening != "//" and comment.text.startswith("/")):
        return
    close = difflib.get_close_matches(match["word"].lower(), _FORMS, n=1, cutoff=0.75)
    if close and _is_meant(close[0], comment.text[match.end() :]):
        written = quote((comment.opening + comment.text[: match.end()]).strip())
        message = f"{written} starts no {close[0]} line; did you mean '// {close[0]}:'?"
        raise _error(comment, message, f"Correct it, or reword the comment. {_FORMS[close[0]]}")


def _check_part(comment: Comment, match: re.Match[str], parts: Collection[str]) -> None:
    """LanguageError for a line of a part that an exercise with parts does not have."""
    if parts and _is_meant(match["keyword"], comment.text[match.end() :]):
        message = (
            f"the exercise has no part {quote(match['part'])}{did_you_mean(match['part'], parts)}"
        )
        raise _error(
            comment,
            message,
            f"The exercise's parts: {', '.join(parts)}. A line of the exercise itself starts with"
            " // launch:",
        )


def _check_trailing(comment: Comment, start: int) -> None:
    keyword = comment.text[:start].strip().rstrip(":")
    if _is_meant(keyword, comment.text[start:]):
        message = f"a {keyword} line must stand on a line of its own"
        raise _error(comment, message, "Move the comment to a line of its own.")


def _check_semicolon(comment: Comment, start: int) -> None:
    text = comment.text.rstrip()
    without = text.rstrip("; \t")
    if text.endswith(";") and _would_parse("scratch", without[start:]):
        position = Position(comment.line, comment.column + text.index(";", len(without)))
        message = "expected the end of the line before ';': a scratch line has no semicolon"
        raise error_at(position, message, "Take the ';' out.")


def _is_meant(keyword: str, text: str) -> bool:
    """Whether the text behind the keyword is more than prose: it contains `<<<`, or parses as such
    a line."""
    return "<<<" in text or _would_parse(keyword, text.strip(" \t\r;"))


def _would_parse(keyword: str, text: str) -> bool:
    try:
        if keyword == "scratch":
            parse_scratch(text)
        else:
            parse_program([PlanLine(text, 1, 1)])
    except LanguageError:
        return False
    return True


def _check_new(buffer: ScratchBuffer, others: list[ScratchBuffer]) -> None:
    same = [other for other in others if other.name == buffer.name]
    if same:
        message = (
            f"the scratch buffer {quote(buffer.name)} is already declared in line {same[0].line}"
        )
        raise error_at(buffer.position, message, "Give each scratch buffer a name of its own.")


def _error(comment: Comment, message: str, advice: str = "") -> LanguageError:
    indent = len(comment.text) - len(comment.text.lstrip())
    return LanguageError(message, comment.line, comment.column + indent, advice)


def launch_mistake(error: LanguageError, source: str) -> PlanMistake:
    """A mistake in a line of the submission's `source`."""
    lines = source.split("\n")
    shown = lines[error.line - 1] if 1 <= error.line <= len(lines) else ""
    quoted = draw_caret(shown, error.column, gutter=f"{error.line} | ")
    return _make_mistake(error, error.line, LAUNCH_FORM, quoted)


def plan_mistake(error: LanguageError, written: Written, source: str) -> PlanMistake:
    """A mistake in `written`, which is a line of `source` or, where it has no line, of the
    exercise's own plan."""
    if written.line is not None:
        return launch_mistake(error, source)
    quoted = draw_caret(written.text, error.column - written.column + 1, gutter="")
    return _make_mistake(error, None, _DEFAULT_PLAN, quoted)


def _make_mistake(error: LanguageError, line: int | None, advice: str, quoted: str) -> PlanMistake:
    return PlanMistake(
        line,
        error.column,
        error.message,
        error.advice or advice,
        quoted,
        error.problem,
        error.figures,
    )


def draw_caret(line: str, column: int, *, gutter: str) -> str:
    """The line, or its part around the 1-based column, and a caret under the column. Tabs stay, so
    that it stands right."""
    first = max(0, column - _CONTEXT)
    shown = "".join(
        letter if letter.isprintable() or letter == "\t" else " "
        for letter in line[first : column + _CONTEXT].rstrip()
    )
    before = shown[: column - 1 - first].ljust(column - 1 - first)
    pad = "".join("\t" if letter == "\t" else " " for letter in " " * len(gutter) + before)
    return f"{gutter}{shown}\n{pad}^"
