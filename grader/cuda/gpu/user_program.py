"""Runs the program of `grade exec --device gpu` on a GPU of this machine.

The program is trusted, as on the command line. CUPTI records its kernels and copies with measured
times; with `check`, memcheck of compute-sanitizer runs it instead.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cuda.compile_program import native_command
from grader.cuda.gpu.activities import parse_trace
from grader.cuda.gpu.real_gpu import RealGpu
from grader.cuda.gpu.sanitizer import (
    MEMCHECK,
    check_command,
    find_sanitizer,
    is_complete,
    parse_findings,
    parse_mistakes,
)
from grader.cuda.gpu.tracer import find_tracer, trace_environment
from grader.errors import ToolMissing
from grader.records.program_run import ProgramRun
from grader.sandbox.process import run_tool
from grader.toolchain.nvcc import Nvcc

NOT_COUNTED = "Memory accesses are not counted on a GPU: --device emulated counts them, or ncu."
NOT_ENDED = "There are no times: the program made no call of CUDA, or ended by a signal or _exit."

_UNSEEN = ProgramRun(0, "", modelled=False, counted=False)
"""A run without records."""

Execute = Callable[[Sequence[str], Mapping[str, str]], tuple[int, str | None, str | None]]
"""Runs a command line with an environment: the exit code, and the captured output."""


@dataclass(frozen=True)
class GpuProgram:
    """A program for a GPU: `nvcc` compiles it, and `folder` takes the records of its run."""

    gpu: RealGpu
    nvcc: Nvcc
    cache: Path
    folder: Path

    def compile_command(
        self, sources: Sequence[str], options: Sequence[str], output: Path
    ) -> list[str]:
        """nvcc's command line."""
        return native_command(self.nvcc.path, sources, options, self.gpu.arch, output)

    def trace(self, command: Sequence[str], execute: Execute) -> ProgramRun:
        """The run with measured times. Raises ToolMissing without CUPTI."""
        tracer = find_tracer(self.nvcc, self.cache)
        if isinstance(tracer, str):
            raise ToolMissing(f"The program cannot be timed: {tracer}", "Install the CUDA toolkit.")
        trace = self.folder / "trace.tsv"
        code, stdout, stderr = execute(command, self._environment(trace_environment(tracer, trace)))
        text = trace.read_text("utf-8", "replace") if trace.is_file() else ""
        found = parse_trace(text, gpu=self.gpu.figures, run=run_tool)
        note = NOT_ENDED if found is None else NOT_COUNTED
        return self._describe(found or _UNSEEN, code, stdout, stderr, note)

    def check(self, command: Sequence[str], execute: Execute) -> ProgramRun:
        """The run with the findings of memcheck. Raises ToolMissing without compute-sanitizer."""
        sanitizer, log = find_sanitizer(), self.folder / "memcheck.log"
        if sanitizer is None:
            raise ToolMissing(
                "--check needs compute-sanitizer on a GPU",
                "Install the CUDA toolkit, or use --device emulated.",
            )
        tool = check_command(sanitizer, MEMCHECK, log)
        code, stdout, stderr = execute([*tool, *command], self._environment({}))
        text = log.read_text("utf-8", "replace") if log.is_file() else ""
        if not is_complete(text):
            raise ToolMissing(
                "compute-sanitizer did not run to its end",
                f"Its own command shows the reason: {shlex.join([*tool, *command])}",
            )
        run = replace(
            _UNSEEN,
            checked=True,
            findings=parse_findings(text),
            host_findings=parse_mistakes(text, Path(command[0]), run_tool),
        )
        return self._describe(run, code, stdout, stderr, NOT_COUNTED)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        return {**os.environ, "CUDA_VISIBLE_DEVICES": self.gpu.uuid, **more}

    def _describe(
        self, run: ProgramRun, code: int, stdout: str | None, stderr: str | None, note: str
    ) -> ProgramRun:
        return replace(
            run,
            exit_code=code,
            device=self.gpu.info.name,
            stdout=stdout,
            stderr=stderr,
            notes=(*run.notes, note),
        )
