// Quotients and remainders of 32-bit integers (a divisor of 0 too).
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// out: quotient uint32[1024]
// out: rest uint32[1024]
// out: quotient_signed int32[1024]
// out: rest_signed int32[1024]
// launch: int_divide<<<4, 256>>>(quotient, rest, quotient_signed, rest_signed, a, b)
__global__ void int_divide(
    unsigned int* quotient,
    unsigned int* rest,
    int* quotient_signed,
    int* rest_signed,
    const unsigned int* a,
    const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    quotient[i] = a[i] / b[i];
    rest[i] = a[i] % b[i];
    quotient_signed[i] = (int)a[i] / (int)b[i];
    rest_signed[i] = (int)a[i] % (int)b[i];
}
