// Ones, leading zeros, lowest ones and reversals of 64 bits.
// in: a uint64[256] = edges
// in: b uint64[256] = edges2
// out: ones uint32[256]
// out: zeros uint32[256]
// out: lowest uint32[256]
// out: reversed uint64[256]
// launch: int_count_bits_wide<<<1, 256>>>(ones, zeros, lowest, reversed, a, b)
__global__ void int_count_bits_wide(
    unsigned int* ones,
    unsigned int* zeros,
    unsigned int* lowest,
    unsigned long long* reversed,
    const unsigned long long* a,
    const unsigned long long* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ones[i] = __popcll(a[i]);
    zeros[i] = __clzll(a[i]);
    lowest[i] = __ffsll(a[i]);
    reversed[i] = __brevll(a[i]);
}
