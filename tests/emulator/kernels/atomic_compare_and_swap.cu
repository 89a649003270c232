// Compare-and-swap of 32 and 64 bits in shared and global memory; lanes of one warp meet.
// in: a uint32[32] = edges
// in: b uint64[32] = edges
// inout: cell uint32[4] = {0, 1, 2, 3}
// inout: wide uint64[4] = {0, 1, 2, 3}
// out: old uint32[64]
// out: oldwide uint64[64]
// launch: run<<<1, 32>>>(old, oldwide, cell, wide, a, b)
typedef unsigned long long u64;
__global__ void run(unsigned int* old, u64* oldwide, unsigned int* cell, u64* wide, const unsigned int* a, const u64* b)
{
    __shared__ unsigned int s[4];
    __shared__ u64 t[4];
    const int i = threadIdx.x;
    if (i < 4) s[i] = i, t[i] = i;
    __syncthreads();
    old[i] = atomicCAS(&cell[i & 3], i & 3, a[i]);
    oldwide[i] = atomicCAS(&wide[i & 3], (u64)(i & 3), b[i]);
    old[32 + i] = atomicCAS(&s[i & 3], i & 3, a[i]);
    oldwide[32 + i] = atomicCAS(&t[i & 3], (u64)(i & 3), b[i]);
}
