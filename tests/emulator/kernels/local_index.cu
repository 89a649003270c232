// A local array with an index that only the run tells.
// in: a uint32[64] = random
// out: y uint32[64]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(unsigned int* y, const unsigned int* a)
{
    unsigned int own[16];
    const unsigned int v = a[threadIdx.x];
    for (int i = 0; i < 16; ++i) own[i] = v * i;
    for (int i = 0; i < 16; ++i) own[v >> 2 * i & 15] ^= own[v >> i & 15] + i;
    unsigned int sum = 0;
    for (int i = 0; i < 16; ++i) sum = 31 * sum + own[i];
    y[threadIdx.x] = sum;
}
