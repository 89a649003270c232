// __match_any_sync and __match_all_sync of 32 and 64 bits.
// in: a uint32[64] = {1, 2, 1, 3, 2}
// in: b uint64[64] = {4294967296, 0, 4294967296, 1}
// in: same uint32[64] = 7
// out: y uint32[512]
// launch: run<<<1, 64>>>(y, a, b, same)
__global__ void run(unsigned int* y, const unsigned int* a, const unsigned long long* b, const unsigned int* same)
{
    const int i = threadIdx.x;
    int p, q;
    y[i] = __match_any_sync(0xffffffff, a[i]);
    y[64 + i] = __match_any_sync(0xffffffff, b[i]);
    y[128 + i] = __match_all_sync(0xffffffff, a[i], &p);
    y[192 + i] = __match_all_sync(0xffffffff, same[i], &q);
    y[256 + i] = 2 * p + q;
    y[320 + i] = __match_all_sync(0xffffffff, b[i], &p) + p;
    y[384 + i] = y[448 + i] = 0;
    if (i & 1) y[384 + i] = __match_any_sync(0xaaaaaaaa, a[i]);
    else y[448 + i] = __match_any_sync(0x55555555, b[i]);
}
