// One lane of each warp copies 4 pieces of so many bytes to shared memory, then waits for them.
// run: --size turns=100 --size bytes=16 --size threads=32 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=128 --size threads=32 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=1024 --size threads=32 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=16 --size threads=256 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=128 --size threads=256 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=1024 --size threads=256 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=16 --size threads=1024 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=128 --size threads=1024 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=1024 --size threads=1024 --input x=normal:16777216 --output y=float32:132*threads
// run: --size turns=100 --size bytes=6144 --size threads=128 --input x=normal:16777216 --output y=float32:132*threads
// launch: bulk_copies<<<132, threads>>>(y, x, turns, bytes)

__global__ void bulk_copies(float* y, const float* x, int turns, int bytes)
{
    extern __shared__ char unused[];
    __shared__ alignas(128) char pieces[32768];
    __shared__ alignas(8) unsigned long long barriers[32];
    unsigned warp = threadIdx.x / 32, phase = 0;
    unsigned barrier = (unsigned)__cvta_generic_to_shared(&barriers[warp]);
    unsigned to = (unsigned)__cvta_generic_to_shared(pieces) + warp * 1024 % 32768;
    if (bytes > 1024)
        to = (unsigned)__cvta_generic_to_shared(pieces) + warp * 6144;
    if (threadIdx.x % 32 == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
#pragma unroll 1
        for (int k = 0; k < turns; k++, phase ^= 1) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(4 * bytes) : "memory");
            for (int n = 0; n < 4; n++)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                    ::"r"(to), "l"((const char*)x + ((warp * 4 + n + k * 7) % 512) * 8192), "r"(bytes), "r"(barrier) : "memory");
            asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @p bra done; bra again; done: }"
                ::"r"(barrier), "r"(phase) : "memory");
        }
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = pieces[threadIdx.x];
}
