// A sum by one load a round, whose latency grows with the warps that load: DRAM's queues.
// run: --size n=16777216 --size blocks=132 --input x=normal:n --output y=float32:256*blocks
// run: --size n=16777216 --size blocks=264 --input x=normal:n --output y=float32:256*blocks
// run: --size n=16777216 --size blocks=528 --input x=normal:n --output y=float32:256*blocks
// run: --size n=16777216 --size blocks=1056 --input x=normal:n --output y=float32:256*blocks
// launch: loaded_dram<<<blocks, 256>>>(y, x, n)

__global__ void loaded_dram(float* y, const float* x, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 1
    for (int i = first; i < n; i += stride) sum += x[i];
    y[first] = sum;
}
