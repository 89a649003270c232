// Shifts of 64-bit integers by 0 to beyond the width.
// in: a uint64[1024] = edges
// in: n uint32[1024] = {0, 1, 5, 31, 32, 33, 48, 63, 64, 65, 255, 4294967295}
// out: left uint64[1024]
// out: right uint64[1024]
// out: signed_right uint64[1024]
// launch: int_shift_wide<<<4, 256>>>(left, right, signed_right, a, n)
__device__ unsigned long long left_by(unsigned long long x, unsigned int n)
{
    unsigned long long d;
    asm("shl.b64 %0, %1, %2;" : "=l"(d) : "l"(x), "r"(n));
    return d;
}
__device__ unsigned long long right_by(unsigned long long x, unsigned int n)
{
    unsigned long long d;
    asm("shr.u64 %0, %1, %2;" : "=l"(d) : "l"(x), "r"(n));
    return d;
}
__device__ unsigned long long signed_right_by(unsigned long long x, unsigned int n)
{
    unsigned long long d;
    asm("shr.s64 %0, %1, %2;" : "=l"(d) : "l"(x), "r"(n));
    return d;
}
__global__ void int_shift_wide(
    unsigned long long* left,
    unsigned long long* right,
    unsigned long long* signed_right,
    const unsigned long long* a,
    const unsigned int* n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    left[i] = left_by(a[i], n[i]);
    right[i] = right_by(a[i], n[i]);
    signed_right[i] = signed_right_by(a[i], n[i]);
}
