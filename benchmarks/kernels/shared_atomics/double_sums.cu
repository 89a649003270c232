// Adds doubles in shared memory, a compare-and-swap loop of 64 bits each. `stride` doubles lie
// between those of neighbouring lanes.
// run: --size blocks=1056 --size rounds=128 --size stride=1 --output y=float64:256*blocks
// run: --size blocks=1056 --size rounds=64 --size stride=16 --output y=float64:256*blocks
// launch: double_sums<<<blocks, 256>>>(y, rounds, stride)

__global__ void double_sums(double* y, int rounds, int stride)
{
    __shared__ double words[512];
    for (int k = threadIdx.x; k < 512; k += blockDim.x)
        words[k] = k;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        atomicAdd(&words[(threadIdx.x * stride + k) % 512], 1.0);
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x * 2];
}
