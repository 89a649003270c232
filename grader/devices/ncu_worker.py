"""What runs under `ncu`: `python -m grader.devices.ncu_worker FOLDER...` runs the plan in each folder once.

A folder holds `request.json`, `kernels.cubin` and the inputs' bytes (devices.ncu writes them). Only the plan's launches
lie between cuProfilerStart and cuProfilerStop. What goes wrong is left in the folder's `error.txt`, exit code 1.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

REQUEST, CUBIN, ERROR = "request.json", "kernels.cubin", "error.txt"
POISON_BYTE = 0xFF


def main(argv: Sequence[str]) -> int:
    """Run the plans in the folders, in order; exit code 1 at the first that fails."""
    for folder in map(Path, argv):
        try:
            run_plan(folder)
        except Exception as error:
            (folder / ERROR).write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
            return 1
    return 0


def run_plan(folder: Path) -> None:
    """Load the kernels, fill the buffers, and launch the plan once under the profiler."""
    import pycuda.driver as cuda

    request = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    # The default action of SIGALRM ends the process even while it waits in the driver.
    signal.setitimer(signal.ITIMER_REAL, request["wall_seconds"])
    cuda.init()
    context = cuda.Device(request["gpu_index"]).make_context()
    try:
        module = cuda.module_from_buffer((folder / CUBIN).read_bytes())
        memory = {name: _allocate(size_bytes, folder / file if file else None) for name, size_bytes, file in request["buffers"]}
        launches = [_prepare(module, launch, memory) for launch in request["launches"]]
        cuda.Context.synchronize()
        cuda.start_profiler()
        for function, arguments, shape in launches:
            function(*arguments, **shape)
        cuda.Context.synchronize()
        cuda.stop_profiler()
    finally:
        context.pop()
        context.detach()


def _allocate(size_bytes: int, contents: Path | None) -> Any:  # noqa: ANN401 (PyCUDA has no types)
    import pycuda.driver as cuda

    memory = cuda.mem_alloc(size_bytes)
    if contents is None:
        cuda.memset_d8(memory, POISON_BYTE, size_bytes)
    else:
        cuda.memcpy_htod(memory, np.fromfile(contents, dtype=np.uint8))
    return memory


def _prepare(module: Any, launch: dict[str, Any], memory: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:  # noqa: ANN401
    """A kernel, its arguments, and its grid and block."""
    import pycuda.driver as cuda

    function = module.get_function(launch["symbol"])
    if launch["dynamic_shared_bytes"]:
        function.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch["dynamic_shared_bytes"])
    arguments = [memory[value] if isinstance(value, str) else _integer(*value) for value in launch["arguments"]]
    shape = {"grid": tuple(launch["grid"]), "block": tuple(launch["block"]), "shared": launch["dynamic_shared_bytes"]}
    return function, arguments, shape


def _integer(value: int, size_bytes: int) -> np.generic:
    """An integer argument in the parameter's width; two's complement for a negative one."""
    return np.dtype(f"u{size_bytes}").type(value % (1 << 8 * size_bytes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
