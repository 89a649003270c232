// 8 and 16-bit integers and 32-bit ones to float32 and float64.
// in: a int8[256] = edges
// in: b uint8[256] = edges
// in: c int16[256] = edges
// in: d uint16[256] = edges
// in: e int32[256] = edges
// in: f uint32[256] = edges
// out: a_s float32[256]
// out: a_d float64[256]
// out: b_s float32[256]
// out: b_d float64[256]
// out: c_s float32[256]
// out: c_d float64[256]
// out: d_s float32[256]
// out: d_d float64[256]
// out: e_s float32[256]
// out: e_d float64[256]
// out: f_s float32[256]
// out: f_d float64[256]
// launch: convert_small_float<<<1, 256>>>(a_s, a_d, b_s, b_d, c_s, c_d, d_s, d_d, e_s, e_d, f_s, f_d, a, b, c, d, e, f)
__global__ void convert_small_float(
    float* a_s,
    double* a_d,
    float* b_s,
    double* b_d,
    float* c_s,
    double* c_d,
    float* d_s,
    double* d_d,
    float* e_s,
    double* e_d,
    float* f_s,
    double* f_d,
    const signed char* a,
    const unsigned char* b,
    const short* c,
    const unsigned short* d,
    const int* e,
    const unsigned int* f)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_s[i] = (float)a[i];
    a_d[i] = (double)a[i];
    b_s[i] = (float)b[i];
    b_d[i] = (double)b[i];
    c_s[i] = (float)c[i];
    c_d[i] = (double)c[i];
    d_s[i] = (float)d[i];
    d_d[i] = (double)d[i];
    e_s[i] = (float)e[i];
    e_d[i] = (double)e[i];
    f_s[i] = (float)f[i];
    f_d[i] = (double)f[i];
}
