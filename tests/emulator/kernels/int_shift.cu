// Shifts of 32-bit integers by 0 to beyond the width (PTX clamps the count).
// in: a uint32[1024] = edges
// in: n uint32[1024] = {0, 1, 5, 8, 15, 16, 31, 32, 33, 63, 64, 255, 4294967295}
// in: c uint32[1024] = random
// out: left uint32[1024]
// out: right uint32[1024]
// out: signed_right uint32[1024]
// out: left_31 uint32[1024]
// out: rotated uint32[1024]
// launch: int_shift<<<4, 256>>>(left, right, signed_right, left_31, rotated, a, n, c)
__device__ unsigned int left_by(unsigned int x, unsigned int n)
{
    unsigned int d;
    asm("shl.b32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(n));
    return d;
}
__device__ unsigned int right_by(unsigned int x, unsigned int n)
{
    unsigned int d;
    asm("shr.u32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(n));
    return d;
}
__device__ unsigned int signed_right_by(unsigned int x, unsigned int n)
{
    unsigned int d;
    asm("shr.s32 %0, %1, %2;" : "=r"(d) : "r"(x), "r"(n));
    return d;
}
__global__ void int_shift(
    unsigned int* left,
    unsigned int* right,
    unsigned int* signed_right,
    unsigned int* left_31,
    unsigned int* rotated,
    const unsigned int* a,
    const unsigned int* n,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    left[i] = left_by(a[i], n[i]);
    right[i] = right_by(a[i], n[i]);
    signed_right[i] = signed_right_by(a[i], n[i]);
    left_31[i] = a[i] << (n[i] & 31);
    rotated[i] = a[i] << (n[i] & 31) | a[i] >> (-n[i] & 31);
}
