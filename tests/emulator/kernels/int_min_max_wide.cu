// Minimum, maximum and absolute value of 64-bit integers.
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// out: least uint64[1024]
// out: most_signed int64[1024]
// out: size int64[1024]
// launch: int_min_max_wide<<<4, 256>>>(least, most_signed, size, a, b)
__global__ void int_min_max_wide(
    unsigned long long* least,
    long long* most_signed,
    long long* size,
    const unsigned long long* a,
    const unsigned long long* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    least[i] = min(a[i], b[i]);
    most_signed[i] = max((long long)a[i], (long long)b[i]);
    size[i] = llabs((long long)a[i]);
}
