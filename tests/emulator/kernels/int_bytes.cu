// Sums, differences and comparisons of four bytes in a word.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// out: sum uint32[1024]
// out: clamped uint32[1024]
// out: apart uint32[1024]
// out: apart_sum uint32[1024]
// out: greater uint32[1024]
// out: average uint32[1024]
// out: size uint32[1024]
// launch: int_bytes<<<4, 256>>>(sum, clamped, apart, apart_sum, greater, average, size, a, b)
__global__ void int_bytes(
    unsigned int* sum,
    unsigned int* clamped,
    unsigned int* apart,
    unsigned int* apart_sum,
    unsigned int* greater,
    unsigned int* average,
    unsigned int* size,
    const unsigned int* a,
    const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = __vadd4(a[i], b[i]);
    clamped[i] = __vaddss4(a[i], b[i]);
    apart[i] = __vabsdiffu4(a[i], b[i]);
    apart_sum[i] = __vsadu4(a[i], b[i]);
    greater[i] = __vcmpgts4(a[i], b[i]);
    average[i] = __vavgu4(a[i], b[i]);
    size[i] = __vabs4(a[i]);
}
