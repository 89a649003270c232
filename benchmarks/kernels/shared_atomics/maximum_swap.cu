// The largest of floats in shared memory, by compare-and-swap until it stands.
// run: --size blocks=1056 --size rounds=32 --size stride=0 --output sums=float32:256*blocks
// run: --size blocks=1056 --size rounds=128 --size stride=1 --output sums=float32:256*blocks
// run: --size blocks=1056 --size rounds=32 --size stride=32 --output sums=float32:256*blocks
// launch: maximum_swap<<<blocks, 256>>>(sums, rounds, stride)

__device__ void atomic_max(float* largest, float value)
{
    int* word = (int*)largest;
    int old = *(volatile int*)word;
    while (value > __int_as_float(old)) {
        const int seen = atomicCAS(word, old, __float_as_int(value));
        if (seen == old)
            return;
        old = seen;
    }
}

__global__ void maximum_swap(float* sums, int rounds, int stride)
{
    __shared__ float words[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = -1.0e30f;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        atomic_max(&words[(threadIdx.x * stride + k) % 1024], (threadIdx.x * 37 + k * 11) % 509);
    __syncthreads();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x * 4];
}
