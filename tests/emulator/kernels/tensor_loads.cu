// Boxes of tensors with one to five axes, beside their edges too, with and without swizzling, fills
// and steps; by a map that is a parameter, and by one in global memory.
// in: a float32[2560] = normal
// map: a [40, 64] {"box": [8, 32], "swizzle": 128}
// in: b uint16[480] = random
// map: b [480] {"box": [64]}
// in: c float16[2880] = normal
// map: c [6, 20, 24] {"box": [2, 6, 16], "steps": [1, 3, 1], "swizzle": 32, "fill": "nan"}
// in: d int64[1152] = random
// map: d [4, 6, 4, 12] {"box": [2, 3, 2, 8], "swizzle": 64}
// in: e uint8[3840] = random
// map: e [2, 3, 4, 5, 32] {"box": [2, 2, 2, 2, 16]}
// out: ya float32[1536]
// out: yb uint16[256]
// out: yc uint16[256]
// out: yd int64[192]
// out: ye uint8[1024]
// out: yg float32[256]
// levels: 1 3
// launch: planes<<<dim3(2, 3), 64>>>(ya, a)
// launch: line<<<4, 32>>>(yb, b)
// launch: volumes<<<2, 64>>>(yc, c)
// launch: four<<<2, 32>>>(yd, d)
// launch: five<<<4, 64>>>(ye, e)
// launch: keep<<<1, 16>>>(a)
// launch: by_pointer<<<1, 64>>>(yg)
#include <cuda.h>

__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }

__device__ void expect(unsigned long long* object, unsigned bytes)
{
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(object)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                 ::"r"(address_of(object)), "r"(bytes) : "memory");
}

__device__ void wait_for(unsigned long long* object)
{
    __syncthreads();
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "@!p bra again; }" ::"r"(address_of(object)) : "memory");
}

#define LOAD(axes, corner, ...)                                                                    \
    asm volatile("cp.async.bulk.tensor." axes ".shared::cluster.global.tile"                       \
                 ".mbarrier::complete_tx::bytes [%0], [%1, {" corner "}], [%2];"                   \
                 ::"r"(address_of(s)), "l"(&map), "r"(address_of(&object)), __VA_ARGS__ : "memory")

__global__ void planes(float* ya, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) float s[256];
    __shared__ unsigned long long object;
    const int x = 48 * blockIdx.x - 12, y = 17 * blockIdx.y - 1;
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
                     ::"l"(&map), "r"(x), "r"(y) : "memory");
        expect(&object, sizeof s);
        LOAD("2d", "%3, %4", "r"(x), "r"(y));
    }
    wait_for(&object);
    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    for (int i = threadIdx.x; i < 256; i += 64) ya[256 * block + i] = s[i];
}

__global__ void line(unsigned short* yb, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) unsigned short s[64];
    __shared__ unsigned long long object;
    if (threadIdx.x == 0) {
        expect(&object, sizeof s);
        LOAD("1d", "%3", "r"(152 * static_cast<int>(blockIdx.x) - 8));
    }
    wait_for(&object);
    for (int i = threadIdx.x; i < 64; i += 32) yb[64 * blockIdx.x + i] = s[i];
}

__global__ void volumes(unsigned short* yc, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) unsigned short s[128];
    __shared__ unsigned long long object;
    for (int i = threadIdx.x; i < 128; i += 64) s[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&object, 2 * 2 * 16 * 2);
        LOAD("3d", "%3, %4, %5", "r"(24 * static_cast<int>(blockIdx.x) - 8), "r"(15), "r"(5));
    }
    wait_for(&object);
    for (int i = threadIdx.x; i < 128; i += 64) yc[128 * blockIdx.x + i] = s[i];
}

__global__ void four(long long* yd, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(1024) long long s[96];
    __shared__ unsigned long long object;
    if (threadIdx.x == 0) {
        expect(&object, sizeof s);
        LOAD("4d", "%3, %4, %5, %6", "r"(6 * static_cast<int>(blockIdx.x)), "r"(-1), "r"(2), "r"(1));
    }
    wait_for(&object);
    for (int i = threadIdx.x; i < 96; i += 32) yd[96 * blockIdx.x + i] = s[i];
}

__global__ void five(unsigned char* ye, const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) unsigned char s[256];
    __shared__ unsigned long long object;
    if (threadIdx.x == 0) {
        expect(&object, sizeof s);
        LOAD("5d", "%3, %4, %5, %6, %7", "r"(16 * static_cast<int>(blockIdx.x) - 16), "r"(-1), "r"(3),
             "r"(1), "r"(0));
    }
    wait_for(&object);
    for (int i = threadIdx.x; i < 256; i += 64) ye[256 * blockIdx.x + i] = s[i];
}

__device__ alignas(64) unsigned long long kept[16];

__global__ void keep(const __grid_constant__ CUtensorMap map)
{
    kept[threadIdx.x] = reinterpret_cast<const unsigned long long*>(&map)[threadIdx.x];
}

__global__ void by_pointer(float* yg)
{
    const CUtensorMap& map = *reinterpret_cast<const CUtensorMap*>(kept);
    __shared__ alignas(1024) float s[256];
    __shared__ unsigned long long object;
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map)
                     : "memory");
        expect(&object, sizeof s);
        LOAD("2d", "%3, %4", "r"(4), "r"(30));
    }
    wait_for(&object);
    for (int i = threadIdx.x; i < 256; i += 64) yg[i] = s[i];
}
