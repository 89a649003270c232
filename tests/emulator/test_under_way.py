"""Asynchronous work takes effect at its wait, and not earlier: a program without a wait reads or
moves old contents, and the same program with its wait does not."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import (
    CheckedMode,
    CountingMode,
    DeviceBuffer,
    Execution,
    Role,
    RunLimits,
)
from tests.support.device_plans import make_ready

SOURCE = r"""
#define ASM asm volatile
constexpr int OLD = -7;
__device__ unsigned at(const void* p) { return __cvta_generic_to_shared(p); }
__device__ void copy(void* to, const void* from) {
    ASM("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from) : "memory");
}
__device__ void commit() { ASM("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ void wait() {
    ASM("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
}
__device__ void init(const void* object, int count) {
    if (threadIdx.x == 0) {
        ASM("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(object)), "r"(count) : "memory");
        ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
}
__device__ void expect(const void* object, int bytes) {
    ASM("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(object)), "r"(bytes)
        : "memory");
}
__device__ void wait_for(const void* object, unsigned phase = 0) {
    ASM("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }"
        :: "r"(at(object)), "r"(phase) : "memory");
}
__device__ void bulk_load(void* to, const void* from, int bytes, const void* object) {
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"(at(to)), "l"(from), "r"(bytes), "r"(at(object)) : "memory");
}
__device__ void bulk_store(void* to, const void* from, int bytes) {
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
        :: "l"(to), "r"(at(from)), "r"(bytes) : "memory");
    ASM("cp.async.bulk.commit_group;" ::: "memory");
}
template <int LEFT> __device__ void wait_for_reads() {
    ASM("cp.async.bulk.wait_group.read %0;" :: "n"(LEFT) : "memory");
}
__device__ void fence() {
    ASM("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}
#define KERNEL(name) template <bool RIGHT> __global__ void name(int* y, const int* a)
#define START                                                                                      \
    __shared__ alignas(128) int s[256];                                                            \
    const int i = threadIdx.x;                                                                     \
    s[i] = s[128 + i] = OLD;                                                                       \
    __syncthreads();

KERNEL(last_group_is_left) {
    START
    copy(&s[i], &a[i]); commit();
    copy(&s[128 + i], &a[128 + i]); commit();
    wait<RIGHT ? 0 : 1>();
    __syncthreads();
    y[i] = s[128 + (i ^ 1)];
}
KERNEL(first_group_is_there) {
    START
    copy(&s[i], &a[i]);
    if (RIGHT) commit();
    copy(&s[128 + i], &a[128 + i]); commit();
    wait<1>();
    __syncthreads();
    y[i] = s[i ^ 1];
}
KERNEL(second_copy_to_a_place_is_left) {
    START
    copy(&s[i], &a[i]); commit();
    copy(&s[i], &a[128 + i]); commit();
    wait<RIGHT ? 0 : 1>();
    __syncthreads();
    y[i] = s[i] > 128 ? s[i] : OLD;
}
KERNEL(group_is_committed) {
    START
    copy(&s[i], &a[i]);
    if (RIGHT) commit();
    wait<0>();
    y[i] = s[i];
}
KERNEL(lanes_have_groups_of_their_own) {
    START
    if (i % 2) { copy(&s[i], &a[i]); commit(); }
    else { copy(&s[i], &a[i]); commit(); if (RIGHT) commit(); }
    if (i % 2) wait<0>(); else wait<1>();
    y[i] = s[i];
}
KERNEL(all_are_waited_for) {
    START
    copy(&s[i], &a[i]);
    if (RIGHT) ASM("cp.async.wait_all;" ::: "memory");
    y[i] = s[i];
}
KERNEL(copies_arrive_at_an_object) {
    START
    __shared__ unsigned long long b;
    init(&b, 128);
    copy(&s[i], &a[i]);
    ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&b)) : "memory");
    if (RIGHT) wait_for(&b);
    __syncthreads();
    y[i] = s[i ^ 64];
}
KERNEL(bulk_load_is_waited_for) {
    START
    __shared__ unsigned long long b;
    init(&b, 1);
    fence();
    if (i == 0) { expect(&b, 512); bulk_load(s, a, 512, &b); }
    if (RIGHT) wait_for(&b);
    __syncthreads();
    y[i] = s[i];
}
KERNEL(next_phase_is_another_one) {
    START
    __shared__ unsigned long long b;
    init(&b, 1);
    fence();
    for (int k = 0; k < 2; ++k) {
        if (i == 0) { expect(&b, 512); bulk_load(&s[128 * k], a, 512, &b); }
        wait_for(&b, RIGHT ? k : 0);
        __syncthreads();
    }
    y[i] = s[128 + i];
}
KERNEL(source_is_read_before_it_is_overwritten) {
    START
    s[i] = a[i]; s[128 + i] = a[i];
    fence();
    if (i == 0) {
        bulk_store(y, s, 256); bulk_store(y + 64, s + 64, 256);
        wait_for_reads<RIGHT ? 0 : 1>();
        for (int k = 0; k < 128; ++k) s[k] = k < 64 ? a[k] : OLD;
    }
}
KERNEL(source_is_not_waited_for) {
    START
    s[i] = a[i];
    fence();
    if (i == 0) {
        bulk_store(y, s, 512);
        if (RIGHT) wait_for_reads<0>();
        s[5] = OLD;
    }
}
KERNEL(stores_end_with_their_block) {
    START
    s[i] = RIGHT ? a[i] : OLD;
    fence();
    if (i == 0) bulk_store(y, s, 512);
}
KERNEL(copy_within_shared_memory) {
    START
    __shared__ unsigned long long b;
    init(&b, 1);
    s[i] = a[i];
    fence();
    if (i == 0) {
        expect(&b, 512);
        ASM("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1],"
            " 512, [%2];" :: "r"(at(&s[128])), "r"(at(s)), "r"(at(&b)) : "memory");
    }
    if (RIGHT) wait_for(&b);
    y[i] = s[128 + i];
}
template <bool RIGHT> __global__ void __cluster_dims__(2) remote_store(int* y, const int* a) {
    START
    __shared__ unsigned long long b;
    init(&b, 1);
    unsigned rank, to, object;
    ASM("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(at(&s[i])), "r"(rank ^ 1));
    ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(object) : "r"(at(&b)), "r"(rank ^ 1));
    if (i == 0) expect(&b, 512);
    ASM("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    ASM("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
        :: "r"(to), "r"(a[i]), "r"(object) : "memory");
    if (RIGHT) wait_for(&b);
    if (rank == 0) y[i] = s[i];
    ASM("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
KERNEL(product_is_made_of_what_is_there) {
    __shared__ alignas(128) unsigned m[1024];
    const int i = threadIdx.x;
    for (int k = i; k < 1024; k += 128) m[k] = 0x3C003C00;  // halves: 1
    fence();
    float d[4] = {};
    const unsigned long long first = (at(m) & 0x3FFFF) >> 4, second = (at(m + 512) & 0x3FFFF) >> 4;
    const unsigned long long way = 8ull << 16 | 16ull << 32;
    ASM("wgmma.fence.sync.aligned;" ::: "memory");
    ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(first | way), "l"(second | way));
    ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (!RIGHT) m[512 + i] = 0;
    ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    m[512 + i] = 0;
    y[i] = int(d[0]) == 16 ? a[i] : OLD;
}
"""
NAMES = [
    line.partition("(")[2].partition(")")[0]
    for line in SOURCE.splitlines()
    if line.startswith("KERNEL(")
] + ["remote_store"]
ROW = 128
LIMITS = RunLimits(warp_instructions=10**6, wall_seconds=60.0)


@functools.cache
def run(*, checked: bool = False) -> tuple[Execution, np.ndarray]:
    """All kernels, compiled and run together, and the results of each without and with its wait."""
    launches = [
        f"// launch: {name}<{str(bool(right)).lower()}>"
        f"<<<{2 if name == 'remote_store' else 1}, {ROW}>>>(y + {ROW * (2 * number + right)}, a)"
        for number, name in enumerate(NAMES)
        for right in (0, 1)
    ]
    data = np.arange(1, 2 * ROW + 1, dtype=np.int32)
    buffers = (
        DeviceBuffer("y", "int32", (2 * len(NAMES) * ROW,), Role.OUTPUT),
        DeviceBuffer("a", "int32", (2 * ROW,), Role.INPUT),
    )
    instances = [
        f"template __global__ void {name}<{right}>(int*, const int*);"
        for name in NAMES
        for right in ("false", "true")
    ]
    device = EmulatedDevice(threads=1)
    text = "\n".join([*launches, SOURCE, *instances])
    program = make_ready(text, buffers, {}, device.info).as_program()
    mode = CheckedMode() if checked else CountingMode()
    execution, arrays = device.run(program, {"a": data}, limits=LIMITS, mode=mode)
    assert execution.failure is None, execution.failure
    return execution, arrays["y"].reshape(len(NAMES), 2, ROW)


def row(name: str, *, right: bool) -> np.ndarray:
    """The results of a kernel."""
    _, found = run()
    return np.array(found[NAMES.index(name), int(right)])


def expected(name: str) -> np.ndarray:
    """The results of a kernel with its wait."""
    lanes = np.arange(ROW)
    place = {
        "last_group_is_left": ROW + (lanes ^ 1),
        "first_group_is_there": lanes ^ 1,
        "second_copy_to_a_place_is_left": ROW + lanes,
        "copies_arrive_at_an_object": lanes ^ 64,
    }.get(name, lanes)
    return place + 1


@pytest.mark.parametrize("name", NAMES)
def test_work_that_is_waited_for_is_done(name: str) -> None:
    assert row(name, right=True).tolist() == expected(name).tolist()


SOME = {
    "lanes_have_groups_of_their_own": slice(0, None, 2),
    "source_is_read_before_it_is_overwritten": slice(64, None),
    "source_is_not_waited_for": slice(5, 6),
}
"""Rows that are old only in part."""


@pytest.mark.parametrize("name", NAMES)
def test_work_that_is_not_waited_for_is_not_done_yet(name: str) -> None:
    old = expected(name)
    old[SOME.get(name, slice(None))] = -7
    assert row(name, right=False).tolist() == old.tolist()


# --- the checked mode -----------------------------------------------------------------------------

UNSEEN = {"stores_end_with_their_block"}
"""Kernels without a wait that are correct."""


def findings(name: str, *, right: bool) -> set[str]:
    execution, _ = run(checked=True)
    kernel = f"{name}<{str(right).lower()}>"
    return {each.act.value for each in execution.findings if each.kernel == kernel}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_where_all_is_waited_for(name: str) -> None:
    assert findings(name, right=True) == set()


@pytest.mark.parametrize("name", NAMES)
def test_work_that_is_not_waited_for_is_found(name: str) -> None:
    found = findings(name, right=False)
    assert bool(found) is (name not in UNSEEN), found
