// A transpose: a bulk copy brings a box of 32 x 32 floats to shared memory, the threads store it by columns.
// run: --size n=2048 --input x=normal:n,n --tensor-map x=32,32 --output y=float32:n,n
// run: --size n=8192 --input x=normal:n,n --tensor-map x=32,32 --output y=float32:n,n
// launch: boxes_transposed<<<dim3(n / 32, n / 32), 256>>>(y, x, n)

#include <cuda.h>

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__device__ void set_up(unsigned long long* object, int threads)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(object)), "r"(threads) : "memory");
}

__device__ void expect(unsigned long long* object, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(object)), "r"(bytes) : "memory");
}

__device__ void arrive(unsigned long long* object)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(object)) : "memory");
}

__device__ void wait_for(unsigned long long* object, unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(address_of(object)), "r"(parity) : "memory");
}

__device__ void copy_box(void* to, const CUtensorMap& map, int x, int y, unsigned long long* object)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(address_of(to)), "l"(&map), "r"(x), "r"(y), "r"(address_of(object)) : "memory");
}

__global__ void boxes_transposed(float* y, const __grid_constant__ CUtensorMap x, int n)
{
    __shared__ __align__(128) float tile[32][32];
    __shared__ unsigned long long object;
    const int t = threadIdx.x;
    if (t == 0) {
        set_up(&object, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&object, 4096);
        copy_box(tile, x, blockIdx.x * 32, blockIdx.y * 32, &object);
    }
    __syncthreads();
    wait_for(&object, 0);
    for (int i = t / 32; i < 32; i += 8)
        y[(size_t)(blockIdx.x * 32 + i) * n + blockIdx.y * 32 + t % 32] = tile[t % 32][i];
}
