// Reductions to global memory without a result, unsigned int: add, min, max, and, or, xor.
// in: a uint32[1024] = edges
// inout: cell uint32[24] = edges
// launch: run<<<8, 128>>>(cell, a)
__global__ void run(unsigned int* cell, const unsigned int* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cell[0 * 4 + (i & 3)], a[i]);
    atomicMin(&cell[1 * 4 + (i & 3)], a[i]);
    atomicMax(&cell[2 * 4 + (i & 3)], a[i]);
    atomicAnd(&cell[3 * 4 + (i & 3)], a[i]);
    atomicOr(&cell[4 * 4 + (i & 3)], a[i]);
    atomicXor(&cell[5 * 4 + (i & 3)], a[i]);
}
