// Logic of two and three 32-bit integers.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: both uint32[1024]
// out: either uint32[1024]
// out: one uint32[1024]
// out: chosen uint32[1024]
// out: most uint32[1024]
// out: none uint32[1024]
// launch: int_logic<<<4, 256>>>(both, either, one, chosen, most, none, a, b, c)
__global__ void int_logic(
    unsigned int* both,
    unsigned int* either,
    unsigned int* one,
    unsigned int* chosen,
    unsigned int* most,
    unsigned int* none,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    both[i] = a[i] & b[i];
    either[i] = a[i] | ~b[i];
    one[i] = a[i] ^ b[i] ^ c[i];
    chosen[i] = (a[i] & b[i]) | (~a[i] & c[i]);
    most[i] = (a[i] & b[i]) | (a[i] & c[i]) | (b[i] & c[i]);
    none[i] = ~(a[i] | b[i] | c[i]);
}
