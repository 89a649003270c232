// Comparisons of 64-bit integers, a bit each.
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// out: plain uint32[1024]
// out: with_sign uint32[1024]
// launch: int_compare_wide<<<4, 256>>>(plain, with_sign, a, b)
__global__ void int_compare_wide(unsigned int* plain, unsigned int* with_sign, const unsigned long long* a, const unsigned long long* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    plain[i] = (a[i] < b[i]) << 0 | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 | (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5;
    with_sign[i] = ((long long)a[i] < (long long)b[i]) << 0 | ((long long)a[i] <= (long long)b[i]) << 1 | ((long long)a[i] > (long long)b[i]) << 2 | ((long long)a[i] >= (long long)b[i]) << 3 | ((long long)a[i] == (long long)b[i]) << 4 | ((long long)a[i] != (long long)b[i]) << 5;
}
