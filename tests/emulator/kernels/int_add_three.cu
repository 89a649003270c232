// Sums of three 32-bit integers with signs.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: sum uint32[1024]
// out: mixed uint32[1024]
// out: less uint32[1024]
// out: inverted uint32[1024]
// launch: int_add_three<<<4, 256>>>(sum, mixed, less, inverted, a, b, c)
__global__ void int_add_three(
    unsigned int* sum,
    unsigned int* mixed,
    unsigned int* less,
    unsigned int* inverted,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = a[i] + b[i] + c[i];
    mixed[i] = a[i] - b[i] + c[i];
    less[i] = c[i] - a[i] - b[i];
    inverted[i] = ~a[i] + b[i];
}
