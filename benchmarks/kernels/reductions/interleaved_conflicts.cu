// The sum of each block's numbers: neighbouring threads add, but at addresses that are further
// apart with each round, so that their banks conflict.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/256
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/256
// launch: interleaved_conflicts<<<n / 256, 256>>>(sums, x)

#define THREADS 256

__global__ void interleaved_conflicts(float* sums, const float* x)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;
    partial[t] = x[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        const int left = 2 * distance * t;
        if (left < THREADS)
            partial[left] += partial[left + distance];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
