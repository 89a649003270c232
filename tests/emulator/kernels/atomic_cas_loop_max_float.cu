// A maximum of floats by a compare-and-swap loop on global memory, from many blocks.
// in: a float32[1024] = normal
// inout: best float32[2] = -1e30
// counters: ignored
// launch: run<<<8, 128>>>(best, a)
__device__ void atomic_max(float* address, float value)
{
    int old = __float_as_int(*address), seen;
    do {
        seen = old;
        if (__int_as_float(seen) >= value) return;
        old = atomicCAS((int*)address, seen, __float_as_int(value));
    } while (old != seen);
}
__global__ void run(float* best, const float* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomic_max(&best[i & 1], a[i]);
}
