// Atomics on shared memory that return the old value, unsigned long long: add, min, max, and, or, xor, exch; eight lanes of one warp meet at each address.
// in: a uint64[224] = edges
// in: start uint64[28] = edges
// out: old uint64[224]
// out: last uint64[28]
// launch: run<<<1, 32>>>(old, last, a, start)
__global__ void run(unsigned long long* old, unsigned long long* last, const unsigned long long* a, const unsigned long long* start)
{
    __shared__ unsigned long long cell[28];
    const int i = threadIdx.x;
    for (int k = i; k < 28; k += 32) cell[k] = start[k];
    __syncthreads();
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMin(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    old[2 * 32 + i] = atomicMax(&cell[2 * 4 + (i & 3)], a[2 * 32 + i]);
    old[3 * 32 + i] = atomicAnd(&cell[3 * 4 + (i & 3)], a[3 * 32 + i]);
    old[4 * 32 + i] = atomicOr(&cell[4 * 4 + (i & 3)], a[4 * 32 + i]);
    old[5 * 32 + i] = atomicXor(&cell[5 * 4 + (i & 3)], a[5 * 32 + i]);
    old[6 * 32 + i] = atomicExch(&cell[6 * 4 + (i & 3)], a[6 * 32 + i]);
    __syncthreads();
    for (int k = i; k < 28; k += 32) last[k] = cell[k];
}
