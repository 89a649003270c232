// Atomics on shared memory that return the old value, double: add; eight lanes of one warp meet at each address.
// in: a float64[32] = normal
// in: start float64[4] = normal
// out: old float64[32]
// out: last float64[4]
// launch: run<<<1, 32>>>(old, last, a, start)
__global__ void run(double* old, double* last, const double* a, const double* start)
{
    __shared__ double cell[4];
    const int i = threadIdx.x;
    for (int k = i; k < 4; k += 32) cell[k] = start[k];
    __syncthreads();
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    __syncthreads();
    for (int k = i; k < 4; k += 32) last[k] = cell[k];
}
