// __reduce_*_sync over whole warps and parts of them.
// in: a uint32[64] = edges
// out: y uint32[640]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(unsigned int* y, const unsigned int* a)
{
    const int i = threadIdx.x;
    const unsigned int v = a[(i + i / 32 * 13) % 64], all = 0xffffffff;
    y[i] = __reduce_add_sync(all, v);
    y[64 + i] = __reduce_min_sync(all, v);
    y[128 + i] = __reduce_max_sync(all, v);
    y[192 + i] = __reduce_min_sync(all, (int)v);
    y[256 + i] = __reduce_max_sync(all, (int)v);
    y[320 + i] = __reduce_and_sync(all, v | 1);
    y[384 + i] = __reduce_or_sync(all, v & 0xf0f0);
    y[448 + i] = __reduce_xor_sync(all, v);
    y[512 + i] = y[576 + i] = 0;
    if ((i & 31) < 7) y[512 + i] = __reduce_add_sync(0x7f, v);
    if (v & 1) y[576 + i] = __reduce_or_sync(__activemask(), v);
}
