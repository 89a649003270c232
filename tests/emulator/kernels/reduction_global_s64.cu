// Reductions to global memory without a result, long long: min, max.
// in: a int64[1024] = edges
// inout: cell int64[8] = edges
// launch: run<<<8, 128>>>(cell, a)
__global__ void run(long long* cell, const long long* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(&cell[0 * 4 + (i & 3)], a[i]);
    atomicMax(&cell[1 * 4 + (i & 3)], a[i]);
}
