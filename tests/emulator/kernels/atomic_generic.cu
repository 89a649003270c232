// Atomics through generic pointers, some lanes to shared, some to global memory.
// in: a uint32[64] = edges
// inout: cell uint32[8] = zeros
// out: last uint32[8]
// launch: run<<<1, 64>>>(last, cell, a)
__device__ __noinline__ void update(unsigned int* p, unsigned int v)
{
    atomicAdd(p, v);
    atomicMax(p + 2, v);
    atomicXor(p + 4, v);
}
__global__ void run(unsigned int* last, unsigned int* cell, const unsigned int* a)
{
    __shared__ unsigned int s[8];
    const int i = threadIdx.x;
    if (i < 8) s[i] = 0;
    __syncthreads();
    update(i % 3 ? &s[i & 1] : &cell[i & 1], a[i]);
    __syncthreads();
    if (i < 8) last[i] = s[i];
}
