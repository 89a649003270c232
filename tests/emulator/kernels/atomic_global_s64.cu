// Atomics on global memory that return the old value, long long: min, max; eight lanes of one warp meet at each address.
// in: a int64[64] = edges
// inout: cell int64[8] = edges
// out: old int64[64]
// launch: run<<<1, 32>>>(old, cell, a)
__global__ void run(long long* old, long long* cell, const long long* a)
{
    const int i = threadIdx.x;
    old[0 * 32 + i] = atomicMin(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMax(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
}
