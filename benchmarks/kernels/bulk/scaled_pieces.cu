// Bulk copies bring pieces of 8 KB to shared memory, three ahead; all threads scale and store them.
// run: --size n=4325376 --input x=normal:n --output y=float32:n
// run: --size n=34603008 --input x=normal:n --output y=float32:n
// run: --size n=138412032 --input x=normal:n --output y=float32:n
// launch: scaled_pieces<<<264, 256>>>(y, x, n / 264 / 2048)

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

__global__ void scaled_pieces(float* y, const float* x, int count)
{
    __shared__ __align__(128) float pieces[4][2048];
    __shared__ unsigned long long objects[4];
    const int t = threadIdx.x;
    const size_t first = (size_t)blockIdx.x * count * 2048;
    if (t == 0)
        for (int k = 0; k < 4; k++)
            set_up(&objects[k], 1);
    __syncthreads();
    if (t == 0)
        for (int k = 0; k < 3 && k < count; k++) {
            expect(&objects[k], 8192);
            copy_in(pieces[k], x + first + k * 2048, 8192, &objects[k]);
        }
    for (int k = 0; k < count; k++) {
        wait_for(&objects[k % 4], k / 4 % 2);
        for (int i = 0; i < 8; i++)
            y[first + k * 2048 + i * 256 + t] = 2.0f * pieces[k % 4][i * 256 + t] + 1.0f;
        __syncthreads();
        if (t == 0 && k + 3 < count) {
            expect(&objects[(k + 3) % 4], 8192);
            copy_in(pieces[(k + 3) % 4], x + first + (k + 3) * 2048, 8192, &objects[(k + 3) % 4]);
        }
    }
}
