// The sum of each block's numbers by shuffles: eight warps, then the first warp adds theirs.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/1024
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/1024
// launch: shuffles<<<n / 1024, 256>>>(sums, x)

#define THREADS 256

__global__ void shuffles(float* sums, const float* x)
{
    __shared__ float partial[THREADS / 32];
    const int t = threadIdx.x, lane = t % 32, first = blockIdx.x * 4 * THREADS + t;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++)
        sum += x[first + k * THREADS];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (lane == 0)
        partial[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < THREADS / 32 ? partial[t] : 0.0f;
        for (int distance = 4; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (t == 0)
            sums[blockIdx.x] = sum;
    }
}
