// uint32 to float32 in the four rounding modes.
// in: a uint32[256] = edges
// in: b uint32[256] = random
// out: a_rn float32[256]
// out: a_rz float32[256]
// out: a_rd float32[256]
// out: a_ru float32[256]
// out: b_rn float32[256]
// out: b_rz float32[256]
// out: b_rd float32[256]
// out: b_ru float32[256]
// launch: convert_uint_float<<<1, 256>>>(a_rn, a_rz, a_rd, a_ru, b_rn, b_rz, b_rd, b_ru, a, b)
__global__ void convert_uint_float(
    float* a_rn,
    float* a_rz,
    float* a_rd,
    float* a_ru,
    float* b_rn,
    float* b_rz,
    float* b_rd,
    float* b_ru,
    const unsigned int* a,
    const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_rn[i] = __uint2float_rn(a[i]);
    a_rz[i] = __uint2float_rz(a[i]);
    a_rd[i] = __uint2float_rd(a[i]);
    a_ru[i] = __uint2float_ru(a[i]);
    b_rn[i] = __uint2float_rn(b[i]);
    b_rz[i] = __uint2float_rz(b[i]);
    b_rd[i] = __uint2float_rd(b[i]);
    b_ru[i] = __uint2float_ru(b[i]);
}
