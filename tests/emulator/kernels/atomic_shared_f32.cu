// Atomics on shared memory that return the old value, float: add, exch; eight lanes of one warp meet at each address.
// in: a float32[64] = normal
// in: start float32[8] = normal
// out: old float32[64]
// out: last float32[8]
// launch: run<<<1, 32>>>(old, last, a, start)
__global__ void run(float* old, float* last, const float* a, const float* start)
{
    __shared__ float cell[8];
    const int i = threadIdx.x;
    for (int k = i; k < 8; k += 32) cell[k] = start[k];
    __syncthreads();
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicExch(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    __syncthreads();
    for (int k = i; k < 8; k += 32) last[k] = cell[k];
}
