// Functions that are not inlined call each other from both sides of branches.
// in: a int32[64] = small
// out: y int32[64]
// launch: run<<<1, 64>>>(y, a)
__device__ __noinline__ int sum(int n, const int* a)
{
    int s = 0;
    for (int i = 0; i < n; ++i) s += a[i] * n;
    return s;
}
__device__ __noinline__ int twice(int n, const int* a) { return (n & 1 ? sum(n, a) : sum(n + 2, a) - 1) + 3 * sum(n + 1, a); }
__global__ void run(int* y, const int* a)
{
    const int i = threadIdx.x;
    y[i] = i & 1 ? twice(i & 7, a) : sum(i & 3, a) + twice(1, a);
}
