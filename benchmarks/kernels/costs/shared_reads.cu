// Groups of `share` neighbouring blocks read the same 128 KB in the L2 again and again: by loads (way 0), bulk copies
// (way 1) or asynchronous copies (way 2). Each block begins `skew` bytes further than the block before it.
// run: --size way=0 --size share=1 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=0 --size share=2 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=0 --size share=4 --size skew=16384 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=0 --size share=132 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=1 --size share=1 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=1 --size share=2 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=1 --size share=4 --size skew=16384 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=1 --size share=132 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=2 --size share=1 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=2 --size share=2 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=2 --size share=4 --size skew=16384 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// run: --size way=2 --size share=132 --size skew=0 --size turns=40 --input x=normal:4325376 --output y=float32:132*1024
// launch: shared_reads<<<132, 1024, 131072>>>(y, x, way, share, skew, turns)

#include <cuda_pipeline.h>

#define BYTES 131072
#define PIECE 16384

__device__ unsigned address_of(const void* place) { return (unsigned)__cvta_generic_to_shared(place); }

__device__ void set_up(unsigned long long* object, int threads)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(object)), "r"(threads) : "memory");
}

__device__ void expect(unsigned long long* object, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(object)), "r"(bytes) : "memory");
}

__device__ void wait_for(unsigned long long* object, unsigned parity)
{
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(address_of(object)), "r"(parity) : "memory");
}

__device__ void copy_in(void* to, const void* from, int bytes, unsigned long long* object)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(address_of(to)), "l"(from), "r"(bytes), "r"(address_of(object)) : "memory");
}

__device__ float load(const char* from, int start, int turns)
{
    float sum = 0.0f;
    for (int at = start + threadIdx.x * 16, end = at + turns * BYTES; at < end; at += 4 * PIECE) {
        float4 v[4];
        for (int u = 0; u < 4; u++)
            v[u] = __ldcg((const float4*)(from + (at + u * PIECE) % BYTES));
        for (int u = 0; u < 4; u++)
            sum += v[u].x + v[u].y + v[u].z + v[u].w;
    }
    return sum;
}

__device__ void copy_bulk(char* pieces, unsigned long long* objects, const char* from, int start, int turns)
{
    if (threadIdx.x != 0)
        return;
    const int count = turns * (BYTES / PIECE);
    for (int k = 0; k < 4; k++)
        set_up(&objects[k], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int k = 0; k < count + 4; k++) {
        if (k >= 4)
            wait_for(&objects[k % 4], (k - 4) / 4 % 2);
        if (k < count) {
            expect(&objects[k % 4], PIECE);
            copy_in(pieces + k % 4 * PIECE, from + (start + k * PIECE) % BYTES, PIECE, &objects[k % 4]);
        }
    }
}

__device__ void copy_by_lanes(char* pieces, const char* from, int start, int turns)
{
    for (int k = 0; k < turns * (BYTES / PIECE); k++) {
        __pipeline_memcpy_async(pieces + k % 8 * PIECE + threadIdx.x * 16,
                                from + (start + k * PIECE) % BYTES + threadIdx.x * 16, 16);
        __pipeline_commit();
        __pipeline_wait_prior(6);
    }
    __pipeline_wait_prior(0);
}

__global__ void shared_reads(float* y, const float* floats, int way, int share, int skew, int turns)
{
    extern __shared__ __align__(128) char pieces[];
    __shared__ unsigned long long objects[4];
    const char* from = (const char*)floats + blockIdx.x / share * BYTES;
    const int start = blockIdx.x % share * skew % BYTES;
    float sum = 0.0f;
    if (way == 0)
        sum = load(from, start, turns);
    if (way == 1)
        copy_bulk(pieces, objects, from, start, turns);
    if (way == 2)
        copy_by_lanes(pieces, from, start, turns);
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum + pieces[threadIdx.x];
}
