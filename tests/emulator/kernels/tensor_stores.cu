// Boxes of shared memory to tensors, beside their edges too, with and without swizzling and steps,
// and reductions of them; no two that are under way together meet.
// inout: a float32[1280] = normal
// map: a [20, 64] {"box": [8, 16], "swizzle": 64}
// inout: b uint32[480] = random
// map: b [5, 8, 12] {"box": [2, 4, 8], "steps": [1, 2, 1]}
// inout: c float16[640] = normal
// map: c [10, 64] {"box": [2, 64], "swizzle": 128}
// inout: d uint16[640] = random
// map: d [10, 64] {"box": [2, 64], "element": "bfloat16"}
// inout: e float64[80] = normal
// map: e [10, 8] {"box": [2, 8]}
// inout: f int64[80] = random
// inout: g uint64[80] = random
// map: f [10, 8] {"box": [2, 8]}
// map: g [10, 8] {"box": [2, 8]}
// levels: 1 3
// launch: plain<<<dim3(2, 2), 64>>>(a)
// launch: volumes<<<2, 32>>>(b)
// launch: halves<<<1, 32>>>(c)
// launch: halves<<<1, 32>>>(d)
// launch: doubles<<<1, 32>>>(e)
// launch: integers<<<1, 32>>>(f)
// launch: unsigneds<<<1, 32>>>(g)
#include <cuda.h>

__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }

#define REDUCE(operation, axes, corner, ...)                                                       \
    asm volatile("cp.reduce.async.bulk.tensor." axes ".global.shared::cta." operation              \
                 ".tile.bulk_group [%1, {" corner "}], [%0];"                                      \
                 ::"r"(address_of(s)), "l"(&map), __VA_ARGS__ : "memory")
#define STORE(axes, corner, ...)                                                                   \
    asm volatile("cp.async.bulk.tensor." axes ".global.shared::cta.tile.bulk_group"                \
                 " [%1, {" corner "}], [%0];"                                                      \
                 ::"r"(address_of(s)), "l"(&map), __VA_ARGS__ : "memory")
#define FINISH asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory")
#define SHOW asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads()

__global__ void plain(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) float s[128];
    for (int i = threadIdx.x; i < 128; i += 64) s[i] = 1000 * (blockIdx.y * 2 + blockIdx.x) + i;
    SHOW;
    if (threadIdx.x == 0) {
        STORE("2d", "%2, %3", "r"(52 * static_cast<int>(blockIdx.x)),
              "r"(14 * static_cast<int>(blockIdx.y)));
        FINISH;
        REDUCE("add", "2d", "%2, %3", "r"(20 + 16 * static_cast<int>(blockIdx.x)),
               "r"(2 + 9 * static_cast<int>(blockIdx.y)));
        FINISH;
    }
}

__global__ void volumes(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) unsigned s[64];
    for (int i = threadIdx.x; i < 64; i += 32) s[i] = 77777777u * (i + 1) + blockIdx.x;
    SHOW;
    const int block = blockIdx.x;
    if (threadIdx.x == 0) {
        STORE("3d", "%2, %3, %4", "r"(8 * block), "r"(5), "r"(4 - 2 * block));
        FINISH;
        REDUCE("min", "3d", "%2, %3, %4", "r"(0), "r"(0), "r"(2 * block));
        REDUCE("max", "3d", "%2, %3, %4", "r"(0), "r"(1), "r"(2 * block));
        REDUCE("and", "3d", "%2, %3, %4", "r"(8), "r"(0), "r"(2 * block));
        REDUCE("or", "3d", "%2, %3, %4", "r"(8), "r"(1), "r"(2 * block));
        REDUCE("xor", "3d", "%2, %3, %4", "r"(8), "r"(4), "r"(2 * block));
        REDUCE("inc", "3d", "%2, %3, %4", "r"(0), "r"(4), "r"(2 * block));
        REDUCE("dec", "3d", "%2, %3, %4", "r"(0), "r"(5), "r"(2 * block));
        FINISH;
    }
}

__global__ void halves(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) unsigned short s[128];
    for (int i = threadIdx.x; i < 128; i += 32) s[i] = 0x3C00 + 37 * i + (i % 2) * 0x8000;
    SHOW;
    if (threadIdx.x == 0) {
        REDUCE("add", "2d", "%2, %3", "r"(0), "r"(0));
        REDUCE("min", "2d", "%2, %3", "r"(8), "r"(3));
        REDUCE("max", "2d", "%2, %3", "r"(56), "r"(6));
        FINISH;
    }
}

__global__ void doubles(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) double s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0.1 * threadIdx.x - 3;
    SHOW;
    if (threadIdx.x == 0) {
        REDUCE("add", "2d", "%2, %3", "r"(0), "r"(4));
        FINISH;
    }
}

__global__ void integers(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) long long s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = (5ll << 60) * (threadIdx.x + 1) / 3;
    SHOW;
    if (threadIdx.x == 0) {
        REDUCE("min", "2d", "%2, %3", "r"(0), "r"(0));
        REDUCE("max", "2d", "%2, %3", "r"(0), "r"(2));
        FINISH;
    }
}

__global__ void unsigneds(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) unsigned long long s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = (5ull << 60) * (threadIdx.x + 1) / 3;
    SHOW;
    if (threadIdx.x == 0) {
        REDUCE("add", "2d", "%2, %3", "r"(0), "r"(0));
        REDUCE("min", "2d", "%2, %3", "r"(0), "r"(2));
        REDUCE("and", "2d", "%2, %3", "r"(0), "r"(4));
        REDUCE("xor", "2d", "%2, %3", "r"(0), "r"(6));
        FINISH;
    }
}
