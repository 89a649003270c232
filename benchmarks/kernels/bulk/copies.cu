// A copy through shared memory by bulk copies alone: one thread keeps four pieces under way.
// run: --size n=4194304 --size bytes=2048 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --size bytes=2048 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --size bytes=8192 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --size bytes=16384 --input x=normal:n --output y=float32:n
// launch: copies<<<264, 32, 4 * bytes>>>(y, x, n, bytes)

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

__device__ void copy_out(void* to, const void* from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(address_of(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__global__ void copies(float* y, const float* x, int n, int bytes)
{
    extern __shared__ __align__(128) char pieces[];
    __shared__ unsigned long long objects[4];
    if (threadIdx.x != 0)
        return;
    for (int k = 0; k < 4; k++)
        set_up(&objects[k], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    const int count = (int)((size_t)n * 4 / bytes / gridDim.x);
    const char* from = (const char*)x + (size_t)blockIdx.x * count * bytes;
    char* to = (char*)y + (size_t)blockIdx.x * count * bytes;
    for (int k = 0; k < 2; k++) {
        expect(&objects[k], bytes);
        copy_in(pieces + k * bytes, from + (size_t)k * bytes, bytes, &objects[k]);
    }
    for (int k = 0; k < count; k++) {
        if (k + 2 < count) {
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            expect(&objects[(k + 2) % 4], bytes);
            copy_in(pieces + (k + 2) % 4 * bytes, from + (size_t)(k + 2) * bytes, bytes, &objects[(k + 2) % 4]);
        }
        wait_for(&objects[k % 4], k / 4 % 2);
        copy_out(to + (size_t)k * bytes, pieces + k % 4 * bytes, bytes);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
