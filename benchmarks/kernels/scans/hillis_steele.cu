// Prefix sums of each block's 512 numbers in log2(512) rounds, all threads adding in each: two
// copies in shared memory.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: hillis_steele<<<n / 512, 512>>>(y, x)

#define THREADS 512

__global__ void hillis_steele(float* y, const float* x)
{
    __shared__ float sums[2][THREADS];
    const int t = threadIdx.x;
    int now = 0;
    sums[now][t] = x[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        sums[1 - now][t] = sums[now][t] + (t >= distance ? sums[now][t - distance] : 0.0f);
        now = 1 - now;
        __syncthreads();
    }
    y[blockIdx.x * THREADS + t] = sums[now][t];
}
