// All comparisons of half, a bit each.
// in: a float16[1024] = edges
// in: b float16[1024] = edges2
// out: ordered uint32[1024]
// out: unordered uint32[1024]
// launch: half_compare<<<4, 256>>>(ordered, unordered, a, b)
#include <cuda_fp16.h>
__global__ void half_compare(unsigned int* ordered, unsigned int* unordered, const __half* a, const __half* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ordered[i] = __hlt(a[i], b[i]) << 0 | __hle(a[i], b[i]) << 1 | __hgt(a[i], b[i]) << 2 | __hge(a[i], b[i]) << 3 | __heq(a[i], b[i]) << 4 | __hne(a[i], b[i]) << 5;
    unordered[i] = __hltu(a[i], b[i]) << 0 | __hleu(a[i], b[i]) << 1 | __hgtu(a[i], b[i]) << 2 | __hgeu(a[i], b[i]) << 3 | __hequ(a[i], b[i]) << 4 | __hneu(a[i], b[i]) << 5;
}
