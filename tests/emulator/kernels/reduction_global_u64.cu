// Reductions to global memory without a result, unsigned long long: add, min, max, and, or, xor.
// in: a uint64[1024] = edges
// inout: cell uint64[24] = edges
// launch: run<<<8, 128>>>(cell, a)
__global__ void run(unsigned long long* cell, const unsigned long long* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&cell[0 * 4 + (i & 3)], a[i]);
    atomicMin(&cell[1 * 4 + (i & 3)], a[i]);
    atomicMax(&cell[2 * 4 + (i & 3)], a[i]);
    atomicAnd(&cell[3 * 4 + (i & 3)], a[i]);
    atomicOr(&cell[4 * 4 + (i & 3)], a[i]);
    atomicXor(&cell[5 * 4 + (i & 3)], a[i]);
}
