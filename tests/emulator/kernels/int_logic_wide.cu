// Logic of 64-bit integers.
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// in: c uint64[1024] = random
// out: both uint64[1024]
// out: chosen uint64[1024]
// launch: int_logic_wide<<<4, 256>>>(both, chosen, a, b, c)
__global__ void int_logic_wide(
    unsigned long long* both,
    unsigned long long* chosen,
    const unsigned long long* a,
    const unsigned long long* b,
    const unsigned long long* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    both[i] = a[i] & b[i];
    chosen[i] = (a[i] & b[i]) | (~a[i] & c[i]);
}
