// Variables: zero, with contents, a pointer to another one, constant, and a table that the code indexes; atomics with results.
// in: in int32[256] = iota
// out: out int32[256]
// levels: 3
// launch: count<<<2, 128>>>(in)
// launch: collect<<<2, 128>>>(out, in)
__device__ int bins[16];
__device__ int start[4] = {100, 200, 300, 400};
__device__ int* other = start;
__device__ int last[256];
__constant__ int scale[4] = {1, 10, 100, 1000};
__global__ void count(const int* in)
{
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 16], 1);
}
__global__ void collect(int* out, const int* in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    __shared__ int ticket;
    if (threadIdx.x == 0)
        ticket = 0;
    __syncthreads();
    last[atomicExch(&last[i], i) + i] += atomicAdd(&ticket, 1) < 128;
    __syncthreads();
    out[i] = bins[i % 16] + other[i % 4] * scale[in[i] % 4] + primes[in[i] % 8] + atomicCAS(&last[i], i + 1, 0) + ticket;
}
