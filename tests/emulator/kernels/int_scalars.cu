// Arithmetic on kernel parameters: the uniform datapath.
// in: a uint32[256] = edges
// out: y uint32[256]
// out: z uint32[256]
// launch: int_scalars<<<1, 256>>>(y, z, a, 123456789, -7)
__device__ unsigned int mix(unsigned int x, int n, int s)
{
    return x * n + (n >> 3) * s + (n ^ s) + min(n, s) + (x & (s << 4)) + abs(s);
}
__global__ void int_scalars(unsigned int* y, unsigned int* z, const unsigned int* a, int n, int s)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = mix(a[i], n, s);
    z[i] = __byte_perm(n, s, 0x4321) + __popc(n) + (n < s ? n / 3 : s % 5);
}
