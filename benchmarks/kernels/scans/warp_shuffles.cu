// Prefix sums of each block's 256 numbers by shuffles, and the sums of the warps before.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: warp_shuffles<<<n / 256, 256>>>(y, x)

#define THREADS 256

// The sum of a thread's number and those of the threads before it in the block.
__device__ float scan_block(float sum)
{
    __shared__ float warps[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const float before = __shfl_up_sync(0xffffffffu, sum, distance);
        if (lane >= distance)
            sum += before;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        sum += warps[k];
    return sum;
}

__global__ void warp_shuffles(float* y, const float* x)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = scan_block(x[i]);
}
