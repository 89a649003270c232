// One warp of five reads 128 rows ahead into shared memory; the other four take the products of
// what it has read, between barriers.
// run: --size n=2097152 --input x=normal:n --output y=float32:n/16
// run: --size n=33554432 --input x=normal:n --output y=float32:n/16
// launch: producer_warp<<<n / 16384, 160>>>(y, x)

#define WIDTH 128
#define ROUNDS 128

__global__ void producer_warp(float* y, const float* x)
{
    __shared__ float buffers[2][WIDTH];
    const int t = threadIdx.x, lane = t - WIDTH;
    const float4* rows = (const float4*)(x + blockIdx.x * WIDTH * ROUNDS);
    if (lane >= 0)
        ((float4*)buffers[0])[lane] = rows[lane];
    __syncthreads();
    float sums[8] = {};
    for (int round = 0; round < ROUNDS; round++) {
        const float* now = buffers[round % 2];
        if (lane >= 0 && round + 1 < ROUNDS)
            ((float4*)buffers[(round + 1) % 2])[lane] = rows[(round + 1) * (WIDTH / 4) + lane];
        if (lane < 0)
            for (int k = 0; k < 8; k++)
                sums[k] += now[t] * now[(t + 4 * k) % WIDTH];
        __syncthreads();
    }
    if (lane < 0)
        for (int k = 0; k < 8; k++)
            y[blockIdx.x * WIDTH * 8 + k * WIDTH + t] = sums[k];
}
