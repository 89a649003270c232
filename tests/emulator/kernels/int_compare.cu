// Comparisons of 32-bit integers, a bit each.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// out: plain uint32[1024]
// out: with_sign uint32[1024]
// launch: int_compare<<<4, 256>>>(plain, with_sign, a, b)
__global__ void int_compare(unsigned int* plain, unsigned int* with_sign, const unsigned int* a, const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    plain[i] = (a[i] < b[i]) << 0 | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 | (a[i] == b[i]) << 4 | (a[i] != b[i]) << 5;
    with_sign[i] = ((int)a[i] < (int)b[i]) << 0 | ((int)a[i] <= (int)b[i]) << 1 | ((int)a[i] > (int)b[i]) << 2 | ((int)a[i] >= (int)b[i]) << 3 | ((int)a[i] == (int)b[i]) << 4 | ((int)a[i] != (int)b[i]) << 5;
}
