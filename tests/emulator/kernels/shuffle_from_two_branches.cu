// A shuffle whose lanes come from both sides of a branch.
// in: a uint32[64] = random
// out: y uint32[64]
// launch: run<<<1, 64>>>(y, a)
__global__ void run(unsigned int* y, const unsigned int* a)
{
    const int i = threadIdx.x;
    unsigned int v = a[i];
    if (v & 1) v = __shfl_sync(0xffffffff, v, i ^ 1);
    else v = __shfl_sync(0xffffffff, v, i ^ 1) + 1;
    y[i] = v;
}
