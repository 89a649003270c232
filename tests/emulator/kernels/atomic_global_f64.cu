// Atomics on global memory that return the old value, double: add; eight lanes of one warp meet at each address.
// in: a float64[32] = normal
// inout: cell float64[4] = normal
// out: old float64[32]
// launch: run<<<1, 32>>>(old, cell, a)
__global__ void run(double* old, double* cell, const double* a)
{
    const int i = threadIdx.x;
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
}
