"""Sessions of the emulated device, by a client that speaks the wire protocol: launches, memory,
modules, errors, and the records at the end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader.cuda.server import Settings
from grader.cuda.wire import Kind, Sort
from tests.cuda.wire_client import Client, Module, records, served
from tests.support.compiling import find_tools

KERNELS = r"""
#include <cassert>
#include <cstdio>
#include <cooperative_groups.h>
__constant__ float scale[4];
__device__ int counter = 7;
__managed__ int managed = 3;
__global__ void add(float *x, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * scale[i % 4] + a;
}
__global__ void index_constants(float *x) { x[threadIdx.x] = scale[(int)x[threadIdx.x]]; }
__global__ void hello(int k) { printf("%d from %d\n", k, blockIdx.x); }
__global__ void bump() { atomicAdd(&counter, 1); managed += 1; }
__global__ void claim(int k) { assert(k < 3); }
__global__ void store_at(int *p, long long at) { p[at] = 5; }
__global__ void allocate(int **out, int bytes) { *out = (int *)malloc(bytes); if (*out) **out = 9; }
__global__ void follow(int **p, int *out) { *out = **p; }
__global__ void sums(int *x, int n) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    grid.sync();
    x[n + i] = x[(i + blockDim.x) % n];
}
__global__ void ranks(int *x) {
    x[blockIdx.x] = cooperative_groups::this_cluster().block_rank();
}
__global__ void read_texture(cudaTextureObject_t t, float *x) {
    x[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
__global__ void wait_for(volatile int *flag, int *out) { while (*flag == 0) { } *out = *flag; }
__global__ void race(int *x) {
    __shared__ int s[32];
    s[threadIdx.x % 2] = threadIdx.x;
    x[threadIdx.x] = s[0];
}
__global__ void sum_unwritten(int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
"""

SIMPLE = "__global__ void seven(int *x) { *x = 7; }"


def compile_program(
    folder: Path, *options: str, text: str = KERNELS, kind: str = "fatbin"
) -> bytes:
    nvcc, _ = find_tools()
    source, target = folder / "kernels.cu", folder / f"kernels.{kind}"
    source.write_text(text)
    subprocess.run(
        [str(nvcc.path), f"-{kind}", "-lineinfo", *options, str(source), "-o", str(target)],
        check=True,
    )
    return target.read_bytes()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return compile_program(tmp_path_factory.mktemp("program"), "-arch=sm_90")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with served(Settings(folder=tmp_path, threads=1)) as client:
        yield client


@pytest.fixture
def module(client: Client, image: bytes) -> Module:
    return client.load(image)


def test_greets_with_the_device_s_properties(client: Client) -> None:
    assert client.properties["NAME"] == "NVIDIA H100 SXM 80GB"
    assert client.properties["MULTIPROCESSOR_COUNT"] == "132"
    assert abs(2 * int(client.properties["MEMORY_CLOCK_RATE"]) * 5120 / 8e6 - 3352.3) < 0.1


def test_launches_see_memory_and_each_other(client: Client, module: Module) -> None:
    x = np.arange(1000, dtype=np.float32)
    address, (scale, _, kind) = client.allocate(x), module.variables["scale"]
    assert kind == "constant"
    expected = x
    for factor in (2.0, 3.0, 0.5):  # constants change between launches of the same kernel
        client.view(scale, 16).view(np.float32)[:] = factor
        module.launch("add", 8, 128, address, np.int32(1000), np.float32(1))
        expected = expected * np.float32(factor) + np.float32(1)
        assert client.synchronize() == (0, "", "")
    assert np.array_equal(client.read(address, 1000, "f4"), expected)


def test_indexed_constants_change_too(client: Client, module: Module) -> None:
    scale = module.variables["scale"][0]
    for factors in ([1, 2, 3, 4], [8, 7, 6, 5]):
        client.view(scale, 16).view(np.float32)[:] = factors
        address = client.allocate(np.array([3, 2, 1, 0], np.float32))
        module.launch("index_constants", 1, 4, address)
        client.synchronize()
        assert client.read(address, 4, "f4").tolist() == factors[::-1]


def test_allocations_come_and_go_between_launches(client: Client, module: Module) -> None:
    first = client.allocate(64)
    module.launch("store_at", 1, 1, first, np.int64(0))
    module.launch("store_at", 1, 1, first, np.int64(1))
    second = client.allocate(64)
    module.launch("store_at", 1, 1, second, np.int64(3))
    assert client.synchronize()[0] == 0
    assert client.read(second, 4, "i4")[3] == 5
    client.send(Kind.FREE, address=first)
    module.launch("store_at", 1, 1, first, np.int64(0))
    assert client.synchronize()[0] == 700


def test_variables_keep_their_values_between_launches(client: Client, module: Module) -> None:
    for _ in range(5):
        module.launch("bump", 1, 1)
    client.synchronize()
    values = {name: module.variables[name] for name in ("counter", "managed")}
    assert values["managed"][2] == "managed"
    assert [client.read(each[0], 1, "i4")[0] for each in values.values()] == [12, 8]


def test_printed_text_arrives_in_order(client: Client, module: Module) -> None:
    for number in (5, 3):
        module.launch("hello", 3, 1, np.int32(number))
    expected = "".join(f"{number} from {block}\n" for number in (5, 3) for block in range(3))
    assert client.synchronize() == (0, expected, "")
    assert client.synchronize() == (0, "", "")


def test_long_output_needs_several_answers(client: Client, module: Module) -> None:
    module.launch("hello", 20_000, 1, np.int32(123_456))
    status, printed, _ = client.synchronize()
    assert status == 0
    assert printed.endswith("123456 from 19999\n")
    assert len(printed.splitlines()) == 20_000


def test_an_assertion_is_sticky_and_has_cuda_s_text(
    client: Client, module: Module, tmp_path: Path
) -> None:
    module.launch("claim", 1, 2, np.int32(9))
    status, _, complaint = client.synchronize()
    assert status == 710
    lines = complaint.splitlines()
    assert len(lines) == 2
    assert lines[1].endswith(
        "kernels.cu:15: void claim(int): block: [0,0,0], thread: [1,0,0] Assertion `k < 3` failed."
    )
    module.launch("hello", 1, 1, np.int32(1))
    assert client.synchronize()[:2] == (710, "")


@pytest.mark.parametrize(("place", "status"), [(1 << 26, 700), (-(1 << 20), 700)])
def test_an_illegal_address_is_sticky(
    client: Client, module: Module, place: int, status: int
) -> None:
    address = client.allocate(4096)
    module.launch("store_at", 1, 1, address, np.int64(place))
    assert [client.synchronize()[0] for _ in range(2)] == [status, status]


def test_a_misaligned_address_is_its_own_error(client: Client, module: Module) -> None:
    module.launch("store_at", 1, 1, client.allocate(64) + 2, np.int64(0))
    assert client.synchronize()[0] == 716


def test_a_refused_launch_is_reported_once(client: Client, module: Module) -> None:
    module.launch("hello", 1, 1025, np.int32(1))
    assert [client.synchronize()[0] for _ in range(2)] == [1, 0]


def test_the_heap_has_the_size_that_the_program_sets(client: Client, image: bytes) -> None:
    client.send(Kind.LIMIT, limit=2, device=0, value=32 << 20)
    module, out = client.load(image), client.allocate(np.zeros(2, np.uint64))
    module.launch("allocate", 1, 1, out, np.int32(30 << 20))
    module.launch("follow", 1, 1, out, out + 8)
    assert client.synchronize()[0] == 0
    assert client.read(out + 8, 1, "i4")[0] == 9
    module.launch("allocate", 1, 1, out, np.int32(30 << 20))
    client.synchronize()
    assert client.read(out, 1, "u8")[0] == 0


def test_cooperative_grids_synchronise(client: Client, module: Module) -> None:
    n = 8 * 64
    address = client.allocate(8 * n)
    for _ in range(3):
        module.launch("sums", 8, 64, address, np.int32(n), cooperative=1)
    assert client.synchronize()[0] == 0
    expected = (np.arange(n) + 64) % n
    assert np.array_equal(client.read(address + 4 * n, n, "i4"), expected)
    module.launch("sums", 1 << 20, 64, address, np.int32(n), cooperative=1)
    assert client.synchronize()[0] == 720


def test_clusters_have_the_shape_of_the_launch(client: Client, module: Module) -> None:
    address = client.allocate(32)
    module.launch("ranks", 8, 32, address, cluster=(4, 1, 1))
    assert client.synchronize()[0] == 0
    assert client.read(address, 8, "i4").tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    module.launch("ranks", 6, 32, address, cluster=(4, 1, 1))
    assert client.synchronize()[0] == 912


def test_textures_are_bound_by_handles(client: Client, module: Module) -> None:
    from grader.emulator import TEXTURE, Texels

    data, out = client.allocate(np.arange(32, dtype=np.float32) * 2), client.allocate(128)
    texture = np.zeros((), TEXTURE)
    fields = {"first": data & 0xFFFFFFFF, "extents": (32, 1, 1), "layers": 1, "dimensions": 1}
    fields |= {
        "row_texels": 32,
        "channels": 1,
        "texels": Texels.WORDS,
        "texel_bytes": 4,
        "edge": 1,
        "fetched": 1,
    }
    for name, value in fields.items():
        texture[name] = value
    client.send(Kind.TEXTURE, handle=5, texture=texture)
    module.launch("read_texture", 1, 32, 5, out)
    assert client.synchronize()[0] == 0
    assert client.read(out, 32, "f4").tolist() == [2.0 * i for i in range(32)]


def test_a_kernel_waits_for_a_flag_of_the_host(client: Client, module: Module) -> None:
    flag, out = client.allocate(np.zeros(1, np.int32), space=1), client.allocate(4)
    module.launch("wait_for", 1, 1, flag, out)
    time.sleep(0.3)
    client.view(flag, 4).view(np.int32)[0] = 42
    assert client.synchronize()[0] == 0
    assert client.read(out, 1, "i4")[0] == 42


def test_an_endless_wait_is_a_timeout(client: Client, module: Module) -> None:
    flag, out = client.allocate(np.zeros(1, np.int32)), client.allocate(4)
    module.launch("wait_for", 1, 1, flag, out)
    assert client.synchronize()[0] == 702


def test_devices_see_only_their_memory_and_that_of_peers(tmp_path: Path, image: bytes) -> None:
    with served(Settings(devices=2, threads=1)) as client:
        module = client.load(image, device=1)
        of_first = client.allocate(64)
        client.send(Kind.PEER, device=1, peer=0, enabled=1)
        module.launch("store_at", 1, 1, of_first, np.int64(2))
        assert client.synchronize(1)[0] == 0
        client.send(Kind.PEER, device=1, peer=0, enabled=0)
        module.launch("store_at", 1, 1, of_first, np.int64(2))
        assert (client.synchronize(1)[0], client.synchronize(0)[0]) == (700, 0)


def test_ptx_is_compiled_and_its_errors_are_returned(client: Client, tmp_path: Path) -> None:
    image = compile_program(tmp_path, "-arch=compute_80", text=SIMPLE, kind="ptx")
    module = client.load(image + b"\0")
    assert module.status == 0
    address = client.allocate(4)
    module.launch("seven", 1, 1, address)
    assert client.synchronize()[0] == 0
    assert client.read(address, 1, "i4")[0] == 7
    bad = client.load(b".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\0")
    assert bad.status == 218
    assert "log " in bad.text
    assert "nonsense" in bad.text


@pytest.mark.parametrize("mode", ["size", "speed", "none"])
def test_fat_binaries_may_be_compressed(client: Client, tmp_path: Path, mode: str) -> None:
    image = compile_program(tmp_path, "-arch=sm_90", f"--compress-mode={mode}")
    assert client.load(image).status == 0


def test_the_best_entry_of_a_fat_binary_is_loaded(client: Client, tmp_path: Path) -> None:
    older = ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_75,code=compute_75"]
    module = client.load(compile_program(tmp_path, *older, text=SIMPLE))  # the PTX
    assert module.status == 0
    newer = ["-gencode=arch=compute_100,code=sm_100", "-gencode=arch=compute_80,code=sm_80"]
    refused = client.load(compile_program(tmp_path, *newer, text=SIMPLE))
    assert refused.status == 209
    assert "sm_100, sm_80" in refused.text


def test_objects_are_linked(client: Client, tmp_path: Path) -> None:
    first = """
    #include <cstdio>
    extern __device__ int twice(int);
    typedef int (*Function)(int);
    __device__ int next(int x) { return x + 1; }
    __device__ Function functions[2] = {next, twice};
    __device__ int start = 20;
    __global__ void call(int *x) { *x = twice(*x) + twice(start); printf("first %d\\n", *x); }
    __global__ void point(int *x) { x[threadIdx.x] = functions[threadIdx.x % 2](x[threadIdx.x]); }
    """
    second = """
    #include <cstdio>
    extern __device__ int start;
    __device__ int twice(int x) {
        int sum = 0;
        for (int i = 0; i < x + start - 20; ++i) sum += 2;
        printf("second %d\\n", x);
        return sum;
    }
    """
    options = ("-arch=sm_90", "-rdc=true")
    parts = [
        compile_program(tmp_path, *options, text=text, kind="cubin") for text in (first, second)
    ]
    status, cubin = client.link(*parts)
    assert status == 0
    module, address = client.load(cubin), client.allocate(np.array([21, 4], np.int32))
    module.launch("call", 1, 1, address)
    assert client.synchronize() == (0, "second 21\nsecond 20\nfirst 82\n", "")
    module.launch("point", 1, 2, address)
    assert client.synchronize() == (0, "second 4\n", "")
    assert client.read(address, 2, "i4").tolist() == [83, 8]
    assert client.link(parts[0])[0] == 999


def test_events_measure_the_modelled_clock(client: Client, module: Module) -> None:
    address = client.allocate(np.zeros(1 << 20, np.float32))
    module.launch("add", 4096, 256, address, np.int32(1 << 20), np.float32(1))
    for event in (3, 4):
        client.send(Kind.RECORD_EVENT, event=event, stream=0, device=0)
        module.launch("add", 4096, 256, address, np.int32(1 << 20), np.float32(1))
    answer = client.ask(Kind.ELAPSED, start=3, end=4)
    assert answer["status"] == 0
    assert 0.003 < float(answer.record["milliseconds"]) < 0.1
    assert client.ask(Kind.ELAPSED, start=3, end=99)["status"] == 1
    assert client.ask(Kind.QUERY, sort=Sort.EVENT, handle=3)["status"] == 0


def test_the_record_has_counters_times_and_failures(tmp_path: Path, image: bytes) -> None:
    with served(Settings(folder=tmp_path)) as client:
        module, address = client.load(image), client.allocate(4096)
        for _ in range(3):
            module.launch("add", 8, 128, address, np.int32(1000), np.float32(1), site=77)
        module.launch("store_at", 1, 1, address, np.int64(1 << 26))
        client.synchronize()
    (record,) = records(tmp_path)
    first, second = record["groups"]
    assert (first["kernel"], first["launches"], second["kernel"]) == ("add", 3, "store_at")
    assert first["source"].endswith("kernels.cu")
    of_each = [each["counters"]["global_load_sectors"] for each in record["launches"]]
    assert of_each[:3] == [125, 125, 125]
    assert first["counters"]["global_load_sectors"] == 375
    assert {line["line"] for line in first["lines"]} <= set(range(8, 12))
    assert record["launches"][0]["site"] == 77
    assert record["launches"][1]["ms"] == pytest.approx(first["modelled"]["time_ms"])
    assert "allocation 1" in record["failures"][0]["message"]
    assert record["problem"] == ""
    assert any(each["kind"] == "kernel" for each in record["timeline"])


def test_the_checked_mode_finds_races_and_unwritten_memory(tmp_path: Path, image: bytes) -> None:
    with served(Settings(folder=tmp_path, check=True)) as client:
        module, x, y = client.load(image), client.allocate(128), client.allocate(128)
        module.launch("race", 1, 64, client.allocate(256))
        module.launch("sum_unwritten", 1, 32, x, y)
        client.send(Kind.SET, to=x, bytes=128, rows=1)
        module.launch("sum_unwritten", 1, 16, x, y)
        client.synchronize()
    (record,) = records(tmp_path)
    assert {each["kind"] for each in record["findings"]} == {"race", "uninitialized_read"}


def test_the_checked_mode_has_no_false_alarms(tmp_path: Path, image: bytes) -> None:
    with served(Settings(folder=tmp_path, check=True)) as client:
        module, x = client.load(image), client.allocate(np.zeros(32, np.int32))
        y, z = client.allocate(128), client.allocate(128, space=1)
        module.launch("sum_unwritten", 1, 32, x, y)
        client.send(Kind.COPY, **{"from": y, "to": x}, bytes=128, rows=1, direction=3)
        module.launch("sum_unwritten", 1, 32, y, z)
        module.launch("sum_unwritten", 1, 32, z, y)
        client.synchronize()
    assert records(tmp_path)[0]["findings"] == []


def test_a_linked_kernel_launches_a_kernel(client: Client, tmp_path: Path) -> None:
    text = """__global__ void child(int *x) { x[1] = 1; }
    __global__ void parent(int *x) {
        child<<<1, 1>>>(x);
    }"""
    image = compile_program(tmp_path, "-arch=sm_90", "-rdc=true", text=text, kind="cubin")
    nvcc, _ = find_tools()
    library = nvcc.path.parent.parent / "lib" / "libcudadevrt.a"
    if not library.is_file():
        pytest.skip("the device runtime is not installed")
    status, cubin = client.link(image, library.read_bytes())
    assert status == 0
    module, address = client.load(cubin), client.allocate(np.zeros(2, np.int32))
    module.launch("parent", 1, 1, address)
    assert client.synchronize()[0] == 0
    assert client.read(address, 2, "i4").tolist() == [0, 1]


def test_modules_are_unloaded(client: Client, module: Module) -> None:
    client.send(Kind.UNLOAD, module=module.number)
    assert client.synchronize()[0] == 0
