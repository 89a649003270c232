// Quotients and remainders of divisions by constants.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// out: by_7 uint32[1024]
// out: rest_10 uint32[1024]
// out: signed_7 int32[1024]
// out: signed_minus_3 int32[1024]
// out: signed_rest_8 int32[1024]
// launch: int_divide_constant<<<4, 256>>>(by_7, rest_10, signed_7, signed_minus_3, signed_rest_8, a, b)
__global__ void int_divide_constant(
    unsigned int* by_7,
    unsigned int* rest_10,
    int* signed_7,
    int* signed_minus_3,
    int* signed_rest_8,
    const unsigned int* a,
    const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    by_7[i] = a[i] / 7;
    rest_10[i] = a[i] % 10;
    signed_7[i] = (int)a[i] / 7;
    signed_minus_3[i] = (int)a[i] / -3;
    signed_rest_8[i] = (int)a[i] % 8;
}
