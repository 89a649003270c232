// Takes turns at integers in shared memory: the old value is the next round's addend. What a
// thread ends with is left to the run.
// run: --size blocks=1056 --size rounds=64 --size stride=0 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=1 --output sums=uint32:256*blocks
// run: --size blocks=1056 --size rounds=256 --size stride=2 --output sums=uint32:256*blocks
// launch: old_values<<<blocks, 256>>>(sums, rounds, stride)

__global__ void old_values(unsigned* sums, int rounds, int stride)
{
    __shared__ unsigned words[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = k;
    __syncthreads();
    unsigned last = threadIdx.x;
    for (int k = 0; k < rounds; k++)
        last = atomicAdd(&words[(threadIdx.x * stride + k) % 1024], last | 1u);
    sums[blockIdx.x * blockDim.x + threadIdx.x] = last;
}
