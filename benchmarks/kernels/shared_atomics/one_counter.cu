// Counts the positive numbers of each block in one word of shared memory: the compiler adds those
// of a warp at once.
// run: --size n=4194304 --input x=normal:n --output counts=uint32:n/1024
// run: --size n=33554432 --input x=normal:n --output counts=uint32:n/1024
// launch: one_counter<<<n / 1024, 256>>>(counts, x)

__global__ void one_counter(unsigned* counts, const float* x)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        if (x[blockIdx.x * 1024 + k * 256 + threadIdx.x] > 0.0f)
            atomicAdd(&count, 1u);
    __syncthreads();
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}
