"""What the emulated device does not execute of CUDA sources: where the next opcode is to be found.

python -m tests.support.unsupported [--arch sm_90] FILE.cu ...
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import KernelCode, Unsupported, translate
from grader.records import Submission
from tests.support.compiling import compile_source


def find_unsupported(code: KernelCode) -> list[str]:
    """Every instruction that a launch may reach and that is not known, and what of it; or else what
    keeps the kernel from being translated. Each with its source line."""
    try:
        native = translate(code, emulator_runtime())
    except Unsupported as missing:
        return [f"line {missing.line}: {missing.what}"]
    found = (
        f"line {native.decoded[index].line}: {what}"
        for index, what in sorted(native.unknown.items())
    )
    return list(dict.fromkeys(found))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.cu")
    parser.add_argument("--arch", default="sm_90")
    options = parser.parse_args()
    for path in options.files:
        text = path.read_text(encoding="utf-8")
        source = Submission(path.name, hashlib.sha256(text.encode()).hexdigest(), text)
        for kernel in compile_source(source, arch=options.arch).kernels:
            for missing in find_unsupported(kernel_code(kernel, arch=options.arch)):
                print(f"{path.name}: {kernel.name}: {missing}")


if __name__ == "__main__":
    main()
