"""PTX instructions that the emulated device supports.

    python benchmarks/ptx.py FOLDER [--arch sm_90 ...] [--all]

benchmarks/ptx.txt lists the instructions of the PTX ISA manual in their forms. Each form is
compiled in its own kernel, for each architecture whose ptxas accepts it; then `grade inspect` lists
the unknown machine code. Prints, by architecture, the number of forms without unknown instructions,
and the unknown instructions with their forms; `--all`: all forms. Exit code 1 if no architecture
accepts a form's line. FOLDER keeps compiled files. Needs no GPU; takes some minutes.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import inspect
from grader.grading.tools import find_toolchain

FORMS = Path(__file__).with_name("ptx.txt")
TARGETS = {
    "sm_75": "sm_75",
    "sm_80": "sm_80",
    "sm_86": "sm_86",
    "sm_89": "sm_89",
    "sm_90": "sm_90a",
    "sm_100": "sm_100a",
    "sm_120": "sm_120a",
}
"""Architectures, and the targets with all of their own instructions."""
CHUNK = 64
KINDS = {"r": "b32", "l": "b64", "h": "b16", "b": "b128", "f": "f32", "d": "f64", "p": "pred"}
"""Kinds of registers by letter, see ptx.txt."""
_NUMBERS = 8
_WORD = re.compile(r"(?<![\w.%])(?:([rlhbfdpRLHBFDP])([0-7])|(g|s|a|o|c|pa|ca))(?![\w])")
_PLACES = {
    "g": "%ga",
    "s": "%sa",
    "a": "%aa",
    "o": "%oa",
    "c": "constants",
    "pa": "out",
    "ca": "%aa",
}


@dataclass(frozen=True)
class Form:
    """A form of an instruction: its line in the list, and its text."""

    line: str
    text: str


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", nargs="+", choices=TARGETS, default=[*TARGETS])
    parser.add_argument("--all", action="store_true", help="print every form")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    forms = read_forms(FORMS)
    ptxas = find_toolchain(prefer_wheel=True, cache=None, isolated=False).nvcc.path.parent / "ptxas"
    taken: set[str] = set()
    for arch in options.arch:
        cubins = list(compile_forms(forms, arch, ptxas, options.folder))
        unknown = find_unknown(cubins, forms)
        taken.update(forms[number].line for number in unknown)
        whole = sum(not what for what in unknown.values())
        print(f"{arch:7} {whole:5} of {len(unknown):5} forms", flush=True)
        for line in format_unknown(unknown, forms, everything=options.all):
            print(line)
    refused = [line for line in dict.fromkeys(form.line for form in forms) if line not in taken]
    for line in refused:
        print(f"no architecture takes {line}", file=sys.stderr)
    return 1 if refused else 0


def read_forms(path: Path) -> list[Form]:
    """The forms of a list, with all their alternatives."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        Form(line, text)
        for line in lines
        if line and not line.startswith("#")
        for text in dict.fromkeys(expand(line))
    ]


def expand(line: str) -> Iterator[str]:
    """All texts of a line, with each choice of its alternatives `<a|b>`."""
    parts = re.split(r"<([^<>]*)>", line)
    choices = [part.split("|") if place % 2 else [part] for place, part in enumerate(parts)]
    return ("".join(chosen) for chosen in itertools.product(*choices))


def kernel_of(number: int, form: Form) -> str:
    """A kernel that reads the form's operands from memory, and writes its results there."""
    used = dict.fromkeys(match[0] for match in _WORD.finditer(form.text) if match[1])
    reads = [name for name in used if name[0].islower()]
    writes = [name for name in used if name[0].isupper()]
    text = _WORD.sub(lambda m: _PLACES.get(m[0], f"%{m[0]}"), form.text)
    registers = "".join(
        f".reg .{kind} %{letter}<{_NUMBERS}>, %{letter.upper()}<{_NUMBERS}>;\n"
        for letter, kind in KINDS.items()
        if kind != "b128" or "b" in {name[0].lower() for name in used}
    )
    loads = "".join(_load(name, 16 * place) for place, name in enumerate(reads))
    stores = "".join(_store(name, 256 + 32 * place) for place, name in enumerate(writes))
    return f""".visible .entry k{number}(.param .u64 out, .param .u64 in) {{
{registers}.reg .b64 %ga, %aa, %oa, %in, %out; .reg .b32 %sa, %w; .reg .pred %pp;
.local .align 16 .b8 local[64];
ld.param.u64 %ga, [in]; ld.param.u64 %out, [out]; mov.u64 %in, %ga; mov.u64 %aa, %ga;
mov.u64 %oa, local; mov.u32 %sa, shared;
{loads}{text}
{stores}ret;
}}
"""


def _load(name: str, place: int) -> str:
    kind = KINDS[name[0]]
    if kind == "pred":
        return f"ld.volatile.global.u32 %w, [%in+{place}]; setp.ne.u32 %{name}, %w, 0;\n"
    if kind == "b128":
        return f"ld.global.b128 %{name}, [%in+{place}];\n"
    return f"ld.volatile.global.{kind} %{name}, [%in+{place}];\n"


def _store(name: str, place: int) -> str:
    kind = KINDS[name[0].lower()]
    if kind == "pred":
        return f"selp.u32 %w, 1, 0, %{name}; st.volatile.global.u32 [%out+{place}], %w;\n"
    if kind == "b128":
        return f"st.global.b128 [%out+{place}], %{name};\n"
    return f"st.volatile.global.{kind} [%out+{place}], %{name};\n"


def compile_forms(forms: Sequence[Form], arch: str, ptxas: Path, folder: Path) -> Iterator[Path]:
    """Cubins with the kernels of all forms that the architecture accepts."""
    for first in range(0, len(forms), CHUNK):
        numbers = list(range(first, min(first + CHUNK, len(forms))))
        yield from _compile(numbers, forms, arch, ptxas, folder)


def _compile(
    numbers: Sequence[int], forms: Sequence[Form], arch: str, ptxas: Path, folder: Path
) -> Iterator[Path]:
    """A cubin of these forms without those that cause errors. If the errors name no lines, compiles
    each half."""
    while numbers:
        text = (
            f".version 9.0\n.target {TARGETS[arch]}\n.address_size 64\n"
            ".shared .align 128 .b8 shared[4096];\n.const .align 16 .b8 constants[64];\n"
        )
        ends = []
        for number in numbers:
            text += kernel_of(number, forms[number])
            ends.append(text.count("\n"))
        source = folder / f"{arch}-{numbers[0]}.ptx"
        cubin = source.with_suffix(".cubin")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [str(ptxas), "-arch", TARGETS[arch], "-o", str(cubin), str(source)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            yield cubin
            return
        lines = {int(each) for each in re.findall(r"line (\d+); error", done.stderr)}
        starts = [0, *ends[:-1]]
        wrong = {
            number
            for number, start, end in zip(numbers, starts, ends, strict=True)
            if any(start < line <= end for line in lines)
        }
        if not wrong:
            if len(numbers) > 1:
                half = len(numbers) // 2
                yield from _compile(numbers[:half], forms, arch, ptxas, folder)
                yield from _compile(numbers[half:], forms, arch, ptxas, folder)
            return
        numbers = [number for number in numbers if number not in wrong]


def find_unknown(cubins: Sequence[Path], forms: Sequence[Form]) -> dict[int, set[str]]:
    """Unknown instructions in each form's kernel, by the form's number."""
    listed = inspect(cubins, isolated=False)
    for error in listed.errors:
        print(f"{error.file}: {error.message}", file=sys.stderr)
    return {
        int(kernel.kernel.removeprefix("k")): {each.instruction for each in kernel.unsupported}
        for kernel in listed.kernels
    }


def format_unknown(
    unknown: dict[int, set[str]], forms: Sequence[Form], *, everything: bool
) -> Iterator[str]:
    """A line per unknown instruction with its forms; or, for `everything`, a line per form."""
    if everything:
        for number, what in sorted(unknown.items()):
            yield f"    {forms[number].text}: {', '.join(sorted(what)) or 'known'}"
        return
    having: dict[str, list[str]] = defaultdict(list)
    for number, what in sorted(unknown.items()):
        for each in what:
            having[each].append(forms[number].text)
    for each, texts in sorted(having.items()):
        yield f"    {each}: {len(texts)}, as {texts[0]}"


if __name__ == "__main__":
    sys.exit(main())
