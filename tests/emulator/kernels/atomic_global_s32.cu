// Atomics on global memory that return the old value, int: add, min, max, exch; eight lanes of one warp meet at each address.
// in: a int32[128] = edges
// inout: cell int32[16] = edges
// out: old int32[128]
// launch: run<<<1, 32>>>(old, cell, a)
__global__ void run(int* old, int* cell, const int* a)
{
    const int i = threadIdx.x;
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMin(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    old[2 * 32 + i] = atomicMax(&cell[2 * 4 + (i & 3)], a[2 * 32 + i]);
    old[3 * 32 + i] = atomicExch(&cell[3 * 4 + (i & 3)], a[3 * 32 + i]);
}
