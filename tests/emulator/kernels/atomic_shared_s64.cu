// Atomics on shared memory that return the old value, long long: min, max; eight lanes of one warp meet at each address.
// in: a int64[64] = edges
// in: start int64[8] = edges
// out: old int64[64]
// out: last int64[8]
// launch: run<<<1, 32>>>(old, last, a, start)
__global__ void run(long long* old, long long* last, const long long* a, const long long* start)
{
    __shared__ long long cell[8];
    const int i = threadIdx.x;
    for (int k = i; k < 8; k += 32) cell[k] = start[k];
    __syncthreads();
    old[0 * 32 + i] = atomicMin(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMax(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    __syncthreads();
    for (int k = i; k < 8; k += 32) last[k] = cell[k];
}
