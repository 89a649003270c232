// One warp of each block walks eight times as far as the others, which wait at the barrier.
// run: --size blocks=1024 --input x=normal:65536 --output y=float32:256*blocks
// run: --size blocks=16384 --input x=normal:65536 --output y=float32:256*blocks
// launch: one_slow_warp<<<blocks, 256>>>(y, x)

__global__ void one_slow_warp(float* y, const float* x)
{
    __shared__ float part[256];
    int t = threadIdx.x, steps = t < 32 ? 256 : 32;
    float sum = 0;
    for (int k = 0; k < steps; k++) sum += x[(blockIdx.x * 32 + t + 256 * k) & 65535];
    part[t] = sum;
    __syncthreads();
    y[blockIdx.x * 256 + t] = part[t] + part[t % 32];
}
