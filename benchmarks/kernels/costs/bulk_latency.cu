// One thread per SM copies pieces of so many bytes to shared memory, from the same places again and again, and waits.
// run: --size turns=1000 --size bytes=16 --size copies=1 --input x=normal:262144 --output y=float32:132
// run: --size turns=1000 --size bytes=16 --size copies=4 --input x=normal:262144 --output y=float32:132
// run: --size turns=1000 --size bytes=2048 --size copies=1 --input x=normal:262144 --output y=float32:132
// run: --size turns=1000 --size bytes=8192 --size copies=4 --input x=normal:262144 --output y=float32:132
// run: --size turns=1000 --size bytes=32768 --size copies=1 --input x=normal:262144 --output y=float32:132
// launch: bulk_latency<<<132, 32, copies * bytes>>>(y, x, turns, bytes, copies)

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

__global__ void bulk_latency(float* y, const float* x, int turns, int bytes, int copies)
{
    extern __shared__ __align__(128) char pieces[];
    __shared__ unsigned long long object;
    if (threadIdx.x != 0)
        return;
    set_up(&object, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    for (int k = 0; k < turns; k++) {
        expect(&object, bytes * copies);
        for (int n = 0; n < copies; n++)
            copy_in(pieces + n * bytes, (const char*)x + n * bytes, bytes, &object);
        wait_for(&object, k % 2);
    }
    y[blockIdx.x] = pieces[0];
}
