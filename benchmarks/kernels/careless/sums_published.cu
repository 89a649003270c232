// Sums of blocks, which a fence publishes once or in each turn.
// run: --size n=1048576 --size blocks=132 --size turns=1 --input x=normal:n --output y=float32:blocks
// run: --size n=16777216 --size blocks=1056 --size turns=1 --input x=normal:n --output y=float32:blocks
// run: --size n=16777216 --size blocks=1056 --size turns=16 --input x=normal:n --output y=float32:blocks
// run: --size n=67108864 --size blocks=528 --size turns=1 --input x=normal:n --output y=float32:blocks
// scratch: unsigned done[1]
// launch: cudaMemset(done, 0, 4)
// launch: sums_published<<<blocks, 256>>>(y, x, done, n, turns)

__global__ void sums_published(float* y, const float* x, unsigned* done, int n, int turns)
{
    __shared__ float sums[8];
    float sum = 0;
    for (int k = 0; k < turns; k++) {
        for (int i = (k * gridDim.x + blockIdx.x) * 256 + threadIdx.x; i < n; i += gridDim.x * 256 * turns)
            sum += x[i];
        float all = sum;
        for (int lane = 16; lane > 0; lane /= 2)
            all += __shfl_down_sync(0xFFFFFFFF, all, lane);
        if (threadIdx.x % 32 == 0)
            sums[threadIdx.x / 32] = all;
        __syncthreads();
        if (threadIdx.x == 0) {
            all = 0;
            for (int i = 0; i < 8; i++)
                all += sums[i];
            y[blockIdx.x] = all;
            __threadfence();
            atomicAdd(done, 1);
        }
        __syncthreads();
    }
}
