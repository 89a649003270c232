// The softmax of each row of 1,024 by a block that keeps it in registers: one pass, without the
// maximum.
// run: --size h=4096 --size w=1024 --input x=normal:h,w --output y=float32:h,w
// run: --size h=65536 --size w=1024 --input x=normal:h,w --output y=float32:h,w
// launch: softmax_registers<<<h, 256>>>(y, x)

#define WIDTH 1024
#define THREADS 256

// The sum of the values of all threads of a block, for all of them.
__device__ float add_block(float mine)
{
    __shared__ float partial[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++)
        sum += partial[warp];
    return sum;
}

__global__ void softmax_registers(float* y, const float* x)
{
    const size_t first = (size_t)blockIdx.x * WIDTH + threadIdx.x;
    float powers[WIDTH / THREADS], sum = 0.0f;
    for (int k = 0; k < WIDTH / THREADS; k++) {
        powers[k] = __expf(x[first + k * THREADS]);
        sum += powers[k];
    }
    const float scale = 1.0f / add_block(sum);
    for (int k = 0; k < WIDTH / THREADS; k++)
        y[first + k * THREADS] = powers[k] * scale;
}
