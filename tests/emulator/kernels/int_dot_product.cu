// Dot products of bytes and halves: dp4a, dp2a.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: signed_4 int32[1024]
// out: plain_4 uint32[1024]
// out: low_2 int32[1024]
// out: high_2 uint32[1024]
// launch: int_dot_product<<<4, 256>>>(signed_4, plain_4, low_2, high_2, a, b, c)
__global__ void int_dot_product(
    int* signed_4,
    unsigned int* plain_4,
    int* low_2,
    unsigned int* high_2,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    signed_4[i] = __dp4a((int)a[i], (int)b[i], (int)c[i]);
    plain_4[i] = __dp4a(a[i], b[i], c[i]);
    low_2[i] = __dp2a_lo((int)a[i], (int)b[i], (int)c[i]);
    high_2[i] = __dp2a_hi(a[i], b[i], c[i]);
}
