// Means of 3 x 3 elements: bulk copies bring boxes of 34 x 66 floats with their edges, one box ahead.
// run: --size n=2048 --input x=normal:n,n --tensor-map x=34,68 --output y=float32:n,n
// run: --size n=8192 --input x=normal:n,n --tensor-map x=34,68 --output y=float32:n,n
// launch: boxes_smoothed<<<dim3(n / 64, n / 128), 256>>>(y, x, n)

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

__global__ void boxes_smoothed(float* y, const __grid_constant__ CUtensorMap x, int n)
{
    __shared__ __align__(128) float boxes[2][34 * 68 + 24];
    __shared__ unsigned long long objects[2];
    const int t = threadIdx.x, left = blockIdx.x * 64, top = blockIdx.y * 128;
    if (t == 0) {
        set_up(&objects[0], 1);
        set_up(&objects[1], 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&objects[0], 34 * 68 * 4);
        copy_box(boxes[0], x, left - 4, top - 1, &objects[0]);
    }
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (t == 0 && k + 1 < 4) {
            expect(&objects[(k + 1) % 2], 34 * 68 * 4);
            copy_box(boxes[(k + 1) % 2], x, left - 4, top + (k + 1) * 32 - 1, &objects[(k + 1) % 2]);
        }
        wait_for(&objects[k % 2], k / 2 % 2);
        const float* box = boxes[k % 2] + t % 64 + 3;
        for (int i = t / 64; i < 32; i += 4) {
            float sum = 0.0f;
            for (int b = 0; b < 3; b++)
                for (int a = 0; a < 3; a++)
                    if (t % 64 + a - 1 + 4 < 68)
                        sum += box[(i + b) * 68 + a];
            y[(size_t)(top + k * 32 + i) * n + left + t % 64] = sum / 9.0f;
        }
        __syncthreads();
    }
}
