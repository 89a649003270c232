// The sum of each block's numbers, first step of the classical ladder: the threads that add lie
// further apart with each round, so that warps diverge.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/256
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/256
// launch: interleaved_divergent<<<n / 256, 256>>>(sums, x)

#define THREADS 256

__global__ void interleaved_divergent(float* sums, const float* x)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;
    partial[t] = x[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        if (t % (2 * distance) == 0)
            partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
