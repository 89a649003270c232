// Reductions to global memory without a result, int: add, min, max.
// in: a int32[1024] = edges
// inout: cell int32[12] = edges
// launch: run<<<8, 128>>>(cell, a)
__global__ void run(int* cell, const int* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cell[0 * 4 + (i & 3)], a[i]);
    atomicMin(&cell[1 * 4 + (i & 3)], a[i]);
    atomicMax(&cell[2 * 4 + (i & 3)], a[i]);
}
