// The same arithmetic on values that are one for the whole warp.
// in: a uint32[1024] = random
// in: b uint32[1024] = random
// out: mixed uint32[1024]
// out: wide uint64[1024]
// launch: int_uniform<<<4, 256>>>(mixed, wide, a, b)
__device__ unsigned int work(unsigned int x, unsigned int y, unsigned int n)
{
    unsigned int d = (x << n) ^ (y >> n) ^ __popc(x) ^ __brev(y) ^ __clz(x & 0xfffff);
    return x > y ? d * 5 + x : d + max(x, 77u) + (int)x / 16;
}
__device__ unsigned long long wide_work(unsigned long long x, unsigned int y, unsigned int n)
{
    return ((x << n) + y * 3ull) ^ ((long long)x >> n) ^ (x < y ? 1ull : x * y);
}
__global__ void int_uniform(unsigned int* mixed, unsigned long long* wide, const unsigned int* a, const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    mixed[i] = work(a[0], b[1], a[2] & 31) + i;
    wide[i] = wide_work(((unsigned long long)a[3] << 32) | a[4], b[5], b[6] & 63);
}
