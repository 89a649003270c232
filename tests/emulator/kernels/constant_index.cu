// __constant__ arrays with an index of each lane, of 1, 4 and 8 bytes.
// in: a uint32[64] = random
// out: y uint64[64]
// launch: run<<<1, 64>>>(y, a)
__constant__ unsigned char bytes[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 255};
__constant__ int words[8] = {-1, 2, -3, 4, -5, 6, -7, 8};
__constant__ unsigned long long wide[4] = {1ull << 40, 2, 3, ~0ull};
__global__ void run(unsigned long long* y, const unsigned int* a)
{
    const unsigned int v = a[threadIdx.x];
    y[threadIdx.x] = wide[v & 3] ^ (unsigned int)words[v >> 2 & 7] ^ bytes[v >> 5 & 15];
}
