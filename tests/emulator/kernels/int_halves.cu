// Sums and extremes of two 16-bit integers in a word.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: sum uint32[1024]
// out: difference uint32[1024]
// out: most uint32[1024]
// out: least uint32[1024]
// out: three uint32[1024]
// out: added uint32[1024]
// out: relu uint32[1024]
// out: minus uint32[1024]
// launch: int_halves<<<4, 256>>>(sum, difference, most, least, three, added, relu, minus, a, b, c)
__global__ void int_halves(
    unsigned int* sum,
    unsigned int* difference,
    unsigned int* most,
    unsigned int* least,
    unsigned int* three,
    unsigned int* added,
    unsigned int* relu,
    unsigned int* minus,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = __vadd2(a[i], b[i]);
    difference[i] = __vsub2(a[i], b[i]);
    most[i] = __vmaxs2(a[i], b[i]);
    least[i] = __vminu2(a[i], b[i]);
    three[i] = __vimax3_u16x2(a[i], b[i], c[i]);
    added[i] = __viaddmin_s16x2(a[i], b[i], c[i]);
    relu[i] = __vimax3_s16x2_relu(a[i], b[i], c[i]);
    minus[i] = __vneg2(a[i]);
}
