"""The pytest plugin: a fixture that runs CUDA kernels on the emulated device.

pytest loads it by the entry point of the installed package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import grader

if TYPE_CHECKING:
    import numpy as np

    from grader.explore.kernel_data import Output
    from grader.submission.scalars import Scalar

DEFAULT_DEVICE = "emulated:h100"


@dataclass(frozen=True)
class CudaRun:
    """`grader.run` with the device and the checked mode of the test session.

    A relative file name is searched in the test's folder first.
    """

    device: str
    check: bool
    folder: Path

    def __call__(  # noqa: PLR0913 - the arguments of grader.run
        self,
        source: Path | str,
        *,
        inputs: Mapping[str, np.ndarray] | None = None,
        outputs: Mapping[str, Output],
        sizes: Mapping[str, int] | None = None,
        scalars: Mapping[str, Scalar] | None = None,
        device: str | None = None,
        check: bool | None = None,
        model: bool = False,
        seed: int = 0,
    ) -> grader.KernelRun:
        """Runs the kernels like `grader.run`, with the same arguments.

        `device` and `check` default to those of the session. In a session with the checked mode a
        finding fails the test, unless the test gives `check` and reads `findings` itself. Raises
        SubmissionError if the source fails.
        """
        __tracebackhide__ = True
        try:
            run = grader.run(
                self._find(source),
                inputs=inputs,
                outputs=outputs,
                sizes=sizes,
                scalars=scalars,
                device=device or self.device,
                check=self.check if check is None else check,
                model=model,
                seed=seed,
            )
        except grader.SubmissionError as error:  # the traceback of a failing test ends at its call
            raise error.with_traceback(None) from None
        if run.findings and check is None:
            pytest.fail(_describe(run.findings), pytrace=False)
        return run

    def _find(self, source: Path | str) -> Path | str:
        from grader.explore.kernel_run import is_path

        if is_path(source) and (path := self.folder / source).is_file():
            return path
        return source


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the settings of the fixture `cuda_emulated`."""
    group = parser.getgroup("cuda", "CUDA kernels (the fixture cuda_emulated)")
    group.addoption(
        "--cuda-device",
        metavar="DEVICE",
        help="device that runs the kernels: emulated[:ID] or gpu[:N] (default: cuda_device of the"
        f" configuration file, or {DEFAULT_DEVICE})",
    )
    group.addoption(
        "--cuda-check",
        action="store_true",
        help="run the kernels in the checked mode; races and other findings fail the test",
    )
    parser.addini("cuda_device", "device that runs CUDA kernels", default=DEFAULT_DEVICE)
    parser.addini("cuda_check", "run CUDA kernels in the checked mode", type="bool", default=False)


@pytest.fixture
def cuda_emulated(request: pytest.FixtureRequest) -> CudaRun:
    """Runs CUDA kernels without a GPU: call it as `grader.run`."""
    config = request.config
    return CudaRun(
        config.getoption("--cuda-device") or config.getini("cuda_device"),
        config.getoption("--cuda-check") or config.getini("cuda_check"),
        request.path.parent,
    )


def _describe(findings: Sequence[grader.Finding]) -> str:
    from grader.messages.findings import describe_finding

    return "\n".join(("Found in the checked mode:", *map(describe_finding, findings)))
