// Atomics on global memory that return the old value, unsigned int: add, min, max, and, or, xor, exch, inc, dec; eight lanes of one warp meet at each address.
// in: a uint32[288] = edges
// inout: cell uint32[36] = edges
// out: old uint32[288]
// launch: run<<<1, 32>>>(old, cell, a)
__global__ void run(unsigned int* old, unsigned int* cell, const unsigned int* a)
{
    const int i = threadIdx.x;
    old[0 * 32 + i] = atomicAdd(&cell[0 * 4 + (i & 3)], a[0 * 32 + i]);
    old[1 * 32 + i] = atomicMin(&cell[1 * 4 + (i & 3)], a[1 * 32 + i]);
    old[2 * 32 + i] = atomicMax(&cell[2 * 4 + (i & 3)], a[2 * 32 + i]);
    old[3 * 32 + i] = atomicAnd(&cell[3 * 4 + (i & 3)], a[3 * 32 + i]);
    old[4 * 32 + i] = atomicOr(&cell[4 * 4 + (i & 3)], a[4 * 32 + i]);
    old[5 * 32 + i] = atomicXor(&cell[5 * 4 + (i & 3)], a[5 * 32 + i]);
    old[6 * 32 + i] = atomicExch(&cell[6 * 4 + (i & 3)], a[6 * 32 + i]);
    old[7 * 32 + i] = atomicInc(&cell[7 * 4 + (i & 3)], a[7 * 32 + i]);
    old[8 * 32 + i] = atomicDec(&cell[8 * 4 + (i & 3)], a[8 * 32 + i]);
}
