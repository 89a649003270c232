// Funnel shifts, wrapping and clamping.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: n uint32[1024] = {0, 1, 5, 8, 31, 32, 33, 63, 64, 255, 4294967295}
// out: left uint32[1024]
// out: left_clamped uint32[1024]
// out: right uint32[1024]
// out: right_clamped uint32[1024]
// launch: int_funnel<<<4, 256>>>(left, left_clamped, right, right_clamped, a, b, n)
__global__ void int_funnel(
    unsigned int* left,
    unsigned int* left_clamped,
    unsigned int* right,
    unsigned int* right_clamped,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    left[i] = __funnelshift_l(a[i], b[i], n[i]);
    left_clamped[i] = __funnelshift_lc(a[i], b[i], n[i]);
    right[i] = __funnelshift_r(a[i], b[i], n[i]);
    right_clamped[i] = __funnelshift_rc(a[i], b[i], n[i]);
}
