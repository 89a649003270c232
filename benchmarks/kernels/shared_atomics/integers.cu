// Adds integers in shared memory. `stride` words lie between the words of neighbouring lanes: 0 is
// one word for all of them, 1 a bank each, 32 one bank for all.
// run: --size blocks=1056 --size rounds=64 --size stride=0 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=1 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=2 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=64 --size stride=32 --output sums=uint32:256*blocks
// launch: integers<<<blocks, 256>>>(sums, rounds, stride)

__global__ void integers(unsigned* sums, int rounds, int stride)
{
    __shared__ unsigned words[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = k;
    __syncthreads();
    for (int k = 0; k < rounds; k++)
        atomicAdd(&words[(threadIdx.x * stride + k) % 1024], threadIdx.x);
    __syncthreads();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x * 4];
}
