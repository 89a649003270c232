// As bulk/rows_summed, but only `lanes` lanes of a warp wait for its copies, and `bytes` of shared memory limit the blocks
// per SM: 8 blocks of 8 warps, then 7, 6, 5 and 4. An SM holds 1,024 threads that wait.
// run: --size rows=16384 --size width=4096 --size lanes=1 --size bytes=0 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=16 --size bytes=0 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=32 --size bytes=0 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=32 --size bytes=14000 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=32 --size bytes=19000 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=32 --size bytes=26000 --input x=normal:rows,width --output y=float32:rows
// run: --size rows=16384 --size width=4096 --size lanes=32 --size bytes=37000 --input x=normal:rows,width --output y=float32:rows
// launch: awaited_copies<<<rows / 8, 256, bytes>>>(y, x, width, lanes)

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

__device__ void copy_in(void* to, const void* from, int bytes, unsigned long long* object)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(address_of(to)), "l"(from), "r"(bytes), "r"(address_of(object)) : "memory");
}

__global__ void awaited_copies(float* y, const float* x, int width, int lanes)
{
    __shared__ __align__(128) float pieces[8][2][256];
    __shared__ unsigned long long objects[8][2];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 8 + warp;
    const float* from = x + (size_t)row * width;
    if (lane == 0) {
        set_up(&objects[warp][0], 1);
        set_up(&objects[warp][1], 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        expect(&objects[warp][0], 1024);
        copy_in(pieces[warp][0], from, 1024, &objects[warp][0]);
    }
    __syncwarp();
    float sum = 0.0f;
    for (int k = 0; k < width / 256; k++) {
        if (lane == 0 && k + 1 < width / 256) {
            expect(&objects[warp][(k + 1) % 2], 1024);
            copy_in(pieces[warp][(k + 1) % 2], from + (k + 1) * 256, 1024, &objects[warp][(k + 1) % 2]);
        }
        if (lane < lanes)
            wait_for(&objects[warp][k % 2], k / 2 % 2);
        __syncwarp();
        for (int i = 0; i < 8; i++)
            sum += pieces[warp][k % 2][i * 32 + lane];
        __syncwarp();
    }
    for (int apart = 16; apart > 0; apart /= 2)
        sum += __shfl_xor_sync(~0u, sum, apart);
    if (lane == 0)
        y[row] = sum;
}
