"""Times programs on a GPU whose machine has Python and NumPy, but neither PyCUDA nor a compiler:
they are compiled here, timed there, and added to the rows of benchmarks/times.py here.

    python benchmarks/times_elsewhere.py pack FOLDER [--only PART] [FILE.cu ...]
    python3 FOLDER/times_elsewhere.py time FOLDER RESULTS.json      there
    python benchmarks/times_elsewhere.py add RESULTS.json tests/data/times_h200.json

Programs are those of benchmarks/times.py. Each sample has a flushed L2; the median counts. Each
file's programs run in their own process, since a fault ends it. RESULTS also has the quartiles of
float32 outputs: kernels of benchmarks/kernels/costs write the cycles of a turn there. `add` omits
results without a job in the repository. Exit code 0.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ARCH = "sm_90"
FLUSH_BYTES, FLUSHES = 1 << 28, 4
WARM_UPS, SAMPLES, LONG_MS, LONG_SAMPLES = 2, 11, 20.0, 3
FILE_SECONDS = 100.0
POOL = 1 << 20


# --- here -----------------------------------------------------------------------------------------


def pack(folder: Path, parts: list[str], files: list[Path]) -> None:
    """Compiles programs into a portable folder."""
    from jobs import choose, compile_all, find_jobs, limits_of
    from kernel_files import draw_word, make_kernel_program

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(__file__, folder)
    jobs = choose(find_jobs(files, kernels_only=not files), parts)
    packed = []
    for job, ready in zip(jobs, compile_all(jobs, ARCH), strict=True):
        if job.run is not None and not isinstance(ready, str):
            data = job.run.read_data(draw_word)
            ready = make_kernel_program(ready, data, limits_of(ARCH))
        if isinstance(ready, str):
            print(f"{job.name}: {ready}")
            continue
        cubin = job.name.replace("/", "-") + ".cubin"
        (folder / cubin).write_bytes(ready.binary.cubin)
        packed.append(
            {
                "exercise": job.exercise,
                "name": job.name,
                "sizes": dict(job.sizes),
                "run": job.run and job.run.text,
                "source": job.source,
                "cubin": cubin,
                "buffers": [[b.name, b.size_bytes, b.role.value] for b in ready.buffers],
                "steps": [describe_step(step, ready) for step in ready.steps],
            }
        )
    (folder / "jobs.json").write_text(json.dumps(packed))


def describe_step(step: Any, program: Any) -> dict[str, Any]:  # noqa: ANN401
    """A launch or a fill, with the places of its address parameters."""
    from grader.devices.parameter_space import pack_parameters
    from grader.records import BufferArgument, Fill, Launch

    if isinstance(step, Fill):
        return {"fill": step.target.name, "byte": step.byte, "size": step.size_bytes}
    assert isinstance(step, Launch), "copies are not carried"
    kernel = next(each for each in program.binary.kernels if each.symbol == step.symbol)
    addresses = [
        (parameter.offset, argument.buffer)
        for parameter, argument in zip(kernel.parameters, step.arguments, strict=True)
        if isinstance(argument, BufferArgument)
    ]
    nothing = {buffer.name: 0 for buffer in program.buffers}
    return {
        "symbol": step.symbol,
        "grid": list(step.grid),
        "block": list(step.block),
        "shared": step.dynamic_shared_bytes,
        "space": pack_parameters(kernel, step, nothing).hex(),
        "addresses": addresses,
    }


def add(results: Path, file: Path) -> None:
    """Replaces rows of a file of times by rows of the results."""
    from jobs import find_jobs
    from times import Row, read_head, read_rows, write_rows

    own = {(job.exercise, job.name, job.label) for job in find_jobs([])}
    rows = read_rows(file)
    for found in json.loads(results.read_text()):
        found.pop("quartiles", None)
        row = Row(**found)
        if row.key in own and row.ms is not None:
            rows = [*(each for each in rows if each.key != row.key), row]
    write_rows(file, read_head(file), rows)


# --- there ----------------------------------------------------------------------------------------


def time_all(folder: Path, results: Path) -> None:
    """Times all programs of a folder, file by file."""
    jobs = json.loads((folder / "jobs.json").read_text())
    rows = []
    for cubin in dict.fromkeys(job["cubin"] for job in jobs):
        start = time.perf_counter()
        part = results.with_suffix(".part")
        part.write_text("")
        try:
            subprocess.run(
                [sys.executable, __file__, "file", str(folder), str(part), cubin],
                stdout=subprocess.DEVNULL,
                timeout=FILE_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{cubin}: too long")
        rows += [json.loads(line) for line in part.read_text().splitlines()]
        results.write_text(json.dumps(rows))
        print(f"{cubin}: {time.perf_counter() - start:.1f} s", flush=True)


def time_file(folder: Path, part: Path, cubin: str) -> None:
    """Times the programs of a file, a line each."""
    gpu = Driver()
    function: dict[str, Any] = {}
    module = gpu.load((folder / cubin).read_bytes())
    for job in json.loads((folder / "jobs.json").read_text()):
        if job["cubin"] != cubin:
            continue
        row = {name: job[name] for name in ("exercise", "name", "sizes", "run", "source")}
        row |= time_job(gpu, module, function, job)
        with part.open("a") as file:
            file.write(json.dumps(row) + "\n")


def time_job(gpu: Driver, module: Any, functions: dict[str, Any], job: Any) -> dict[str, Any]:  # noqa: ANN401
    pool = np.random.default_rng(1).standard_normal(POOL, dtype=np.float32)
    places = {}
    for name, size, role in job["buffers"]:
        places[name] = gpu.allocate(size)
        if role in ("input", "inout"):
            gpu.upload(places[name], np.resize(pool, -(-size // 4)).tobytes()[:size])
    steps = [gpu.prepare(module, functions, step, places) for step in job["steps"]]
    taken = []
    while len(taken) < WARM_UPS + (
        SAMPLES if max(taken[1:], default=0) < LONG_MS else LONG_SAMPLES
    ):
        taken.append(gpu.time(steps))
    taken = sorted(taken[WARM_UPS:])
    found: dict[str, Any] = {
        "ms": round(taken[len(taken) // 2], 5),
        "low_ms": round(taken[0], 5),
        "high_ms": round(taken[-1], 5),
        "samples": len(taken),
    }
    for name, size, role in job["buffers"]:
        if role == "output" and size < 1 << 24:
            values = np.frombuffer(gpu.download(places[name], size), dtype=np.float32)
            found["quartiles"] = [float(np.nanquantile(values, q / 4)) for q in range(5)]
    for place in places.values():
        gpu.call("cuMemFree_v2", place)
    return found


class Driver:
    """The CUDA driver on the first GPU."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        self.flushed = self.allocate(FLUSH_BYTES)

    def call(self, name: str, *arguments: Any) -> None:  # noqa: ANN401
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: error {code}")

    def load(self, cubin: bytes) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        return module

    def allocate(self, size: int) -> ctypes.c_uint64:
        place = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(size, 4)))
        return place

    def upload(self, place: ctypes.c_uint64, data: bytes) -> None:
        self.call("cuMemcpyHtoD_v2", place, data, ctypes.c_size_t(len(data)))

    def download(self, place: ctypes.c_uint64, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, place, ctypes.c_size_t(size))
        return data.raw

    def prepare(self, module: Any, functions: Any, step: Any, places: Any) -> Any:  # noqa: ANN401
        """A step as a function that calls the driver."""
        if "fill" in step:
            size = ctypes.c_size_t(step["size"])
            fill = (places[step["fill"]], ctypes.c_ubyte(step["byte"]), size, None)
            return lambda: self.call("cuMemsetD8Async", *fill)
        function = functions.setdefault(step["symbol"], ctypes.c_void_p())
        if not function.value:
            self.call(
                "cuModuleGetFunction", ctypes.byref(function), module, step["symbol"].encode()
            )
        if step["shared"]:
            self.call("cuFuncSetAttribute", function, 8, step["shared"])
        space = bytearray.fromhex(step["space"])
        for offset, name in step["addresses"]:
            space[offset : offset + 8] = places[name].value.to_bytes(8, "little")
        packed = ctypes.create_string_buffer(bytes(space), len(space))
        size = ctypes.c_size_t(len(space))
        extra = (ctypes.c_void_p * 5)(
            1, ctypes.addressof(packed), 2, ctypes.addressof(size), 0
        )  # CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END
        sizes = (*step["grid"], *step["block"], step["shared"], None, None, extra)
        keep = (packed, size)
        return lambda: self.call("cuLaunchKernel", function, *sizes) or keep

    def time(self, steps: Any) -> float:  # noqa: ANN401
        """Milliseconds of the steps after a flush of the L2."""
        for value in range(FLUSHES):
            words = ctypes.c_size_t(FLUSH_BYTES // 4)
            self.call("cuMemsetD32Async", self.flushed, value, words, None)
        self.call("cuEventRecord", self.events[0], None)
        for step in steps:
            step()
        self.call("cuEventRecord", self.events[1], None)
        self.call("cuCtxSynchronize")
        taken = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(taken), *self.events)
        return taken.value


def main() -> None:
    verb, *words = sys.argv[1:]
    if verb == "pack":
        folder, *rest = words
        parts = [rest[at + 1] for at, word in enumerate(rest) if word == "--only"]
        files = [Path(word) for word in rest if word.endswith(".cu")]
        pack(Path(folder), parts, files)
    elif verb == "time":
        time_all(*map(Path, words))
    elif verb == "file":
        time_file(Path(words[0]), Path(words[1]), words[2])
    elif verb == "add":
        add(*map(Path, words))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")
    main()
