// All comparisons of float32, a bit each.
// in: a float32[1024] = edges
// in: b float32[1024] = edges2
// out: ordered uint32[1024]
// out: unordered uint32[1024]
// out: number uint32[1024]
// launch: float_compare<<<4, 256>>>(ordered, unordered, number, a, b)
__global__ void float_compare(unsigned int* ordered, unsigned int* unordered, unsigned int* number, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ordered[i] = (a[i] < b[i]) << 0 | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 | (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5;
    unordered[i] = !(a[i] < b[i]) << 0 | !(a[i] <= b[i]) << 1 | !(a[i] > b[i]) << 2 | !(a[i] >= b[i]) << 3 | !(a[i] == b[i]) << 4 | !(a[i] != b[i]) << 5;
    number[i] = isnan(a[i]) | isnan(b[i]) << 1 | isinf(a[i]) << 2 | isfinite(b[i]) << 3 | signbit(a[i]) << 4;
}
