// A histogram: counts in shared memory, added to global memory at the end.
// in: a uint8[4096] = random
// inout: bins uint32[256] = zeros
// launch: run<<<4, 256>>>(bins, a)
__global__ void run(unsigned int* bins, const unsigned char* a)
{
    __shared__ unsigned int s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < 4096; i += 1024) atomicAdd(&s[a[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
