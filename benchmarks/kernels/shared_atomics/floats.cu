// Adds floats in shared memory, which the compiler makes compare-and-swap loops of. `stride` words
// lie between the words of neighbouring lanes: 0 is one word for all of them.
// run: --size blocks=1056 --size rounds=16 --size stride=0 --output sums=float32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=1 --output sums=float32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=2 --output sums=float32:256*blocks
// run: --size blocks=1056 --size rounds=64 --size stride=32 --output sums=float32:256*blocks
// launch: floats<<<blocks, 256>>>(sums, rounds, stride)

__global__ void floats(float* sums, int rounds, int stride)
{
    __shared__ float words[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = k;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        atomicAdd(&words[(threadIdx.x * stride + k) % 1024], 1.0f);
    __syncthreads();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x * 4];
}
