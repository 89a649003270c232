// Divisions and roots whose slow paths are functions in the kernel's section, and a function of the kernel's own file.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: quotients float32[1024]
// out: roots float32[1024]
// out: wide float64[1024]
// out: whole int64[1024]
// levels: 3
// launch: divide<<<4, 256>>>(quotients, a, b)
// launch: more<<<4, 256>>>(roots, wide, whole, a, b)
extern "C" __global__ void divide(float* quotients, const float* a, const float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotients[i] = a[i] / b[i];
}
__device__ __noinline__ long long apart(long long x, long long y)
{
    return x / y;
}
extern "C" __global__ void more(float* roots, double* wide, long long* whole, const float* a, const float* b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    roots[i] = sqrtf(a[i]) / b[i];
    wide[i] = double(a[i]) / (2.0 + i);
    whole[i] = apart(1000000007LL * (i - 512), i % 7 - 9);
}
