// Sums and differences of 64-bit integers, and their carries.
// in: a uint64[1024] = edges
// in: b uint64[1024] = edges2
// in: c uint64[1024] = random
// out: sum uint64[1024]
// out: difference uint64[1024]
// out: three uint64[1024]
// out: carry uint64[1024]
// out: negated uint64[1024]
// launch: int_add_wide<<<4, 256>>>(sum, difference, three, carry, negated, a, b, c)
__global__ void int_add_wide(
    unsigned long long* sum,
    unsigned long long* difference,
    unsigned long long* three,
    unsigned long long* carry,
    unsigned long long* negated,
    const unsigned long long* a,
    const unsigned long long* b,
    const unsigned long long* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = a[i] + b[i];
    difference[i] = a[i] - b[i];
    three[i] = a[i] + b[i] - c[i];
    carry[i] = (a[i] + b[i] < a[i]) + 2 * (a[i] < b[i]);
    negated[i] = -a[i];
}
