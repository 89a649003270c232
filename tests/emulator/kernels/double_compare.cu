// All comparisons of float64, a bit each.
// in: a float64[1024] = edges
// in: b float64[1024] = edges2
// out: ordered uint32[1024]
// out: unordered uint32[1024]
// launch: double_compare<<<4, 256>>>(ordered, unordered, a, b)
__global__ void double_compare(unsigned int* ordered, unsigned int* unordered, const double* a, const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ordered[i] = (a[i] < b[i]) << 0 | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 | (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5;
    unordered[i] = !(a[i] < b[i]) << 0 | !(a[i] <= b[i]) << 1 | !(a[i] > b[i]) << 2 | !(a[i] >= b[i]) << 3 | !(a[i] == b[i]) << 4 | !(a[i] != b[i]) << 5;
}
