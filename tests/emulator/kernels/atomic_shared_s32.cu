// Atomics on shared memory that return the old value, int: add, min, max, exch; eight lanes of one warp meet at each address.
// in: a int32[128] = edges
// in: start int32[16] = edges
// out: old int32[128]
// out: last int32[16]
// launch: run<<<1, 32>>>(old, last, a, start)
__global__ void run(int* old, int* last, const int* a, const int* start)
{
    __shared__ int cell[16];
    const int i = threadIdx.x;
    for (int k = i; k < 16; k += 32) cell[k] = start[k];
    __syncthreads();
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMin(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    old[2 * 32 + i] = atomicMax(&cell[2 * 4 + (i & 3)], a[2 * 32 + i]);
    old[3 * 32 + i] = atomicExch(&cell[3 * 4 + (i & 3)], a[3 * 32 + i]);
    __syncthreads();
    for (int k = i; k < 16; k += 32) last[k] = cell[k];
}
