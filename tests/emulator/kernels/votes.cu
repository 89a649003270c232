// Votes over whole warps and over the lanes that are there.
// in: a uint32[64] = edges
// out: y uint32[384]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(unsigned int* y, const unsigned int* a)
{
    const int i = threadIdx.x;
    const unsigned int all = 0xffffffff;
    y[i] = __ballot_sync(all, a[i] & 1);
    y[64 + i] = __any_sync(all, a[i] == 31) + 2 * __all_sync(all, a[i] < 5) + 4 * __all_sync(all, i < 64);
    y[128 + i] = __uni_sync(all, a[i] & 1) + 2 * __uni_sync(all, i >> 5);
    y[192 + i] = y[256 + i] = 0;
    if (a[i] > 64) y[192 + i] = __activemask();
    if (i & 2) y[256 + i] = __ballot_sync(0xcccccccc, a[i] & 2);
    y[320 + i] = __popc(__activemask());
}
