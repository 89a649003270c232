// Atomics on global memory that return the old value, float: add, exch; eight lanes of one warp meet at each address.
// in: a float32[64] = normal
// inout: cell float32[8] = normal
// out: old float32[64]
// launch: run<<<1, 32>>>(old, cell, a)
__global__ void run(float* old, float* cell, const float* a)
{
    const int i = threadIdx.x;
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicExch(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
}
