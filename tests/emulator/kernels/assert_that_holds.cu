// An assert that holds, and a printf that never prints.
// in: a int32[64] = iota
// out: y int32[64]
// launch: run<<<1, 64>>>(y, a, 64)
#include <cassert>
#include <cstdio>
__global__ void run(int* y, const int* a, int n)
{
    assert(a[threadIdx.x] < n);
    if (n < 0) printf("n is %d\n", n);
    y[threadIdx.x] = 2 * a[threadIdx.x];
}
