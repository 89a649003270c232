// The sum of each block's numbers: all rounds are unrolled, and the last ones are a warp's own, in
// shared memory.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/512
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/512
// launch: unrolled_warp<<<n / 512, 256>>>(sums, x)

#define THREADS 256

__global__ void unrolled_warp(float* sums, const float* x)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;
    const int first = blockIdx.x * 2 * THREADS + t;
    partial[t] = x[first] + x[first + THREADS];
    __syncthreads();
#pragma unroll
    for (int distance = THREADS / 2; distance >= 32; distance /= 2) {
        if (t < distance)
            partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t < 16) {
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            const float other = partial[t + distance];
            __syncwarp(0xffffu);
            partial[t] += other;
            __syncwarp(0xffffu);
        }
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
