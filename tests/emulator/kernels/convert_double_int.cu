// float64 to 32-bit integers in the four rounding modes.
// in: a float64[256] = edges
// in: b float64[256] = {-129.5, -128.5, -0.5, 0.5, 1.5, 2.5, 127.5, 255.5, 32767.5, 65535.5, 2147483520, 2147483648, 4294967040, 4294967296, 9.223372e18, 1.8446744e19, -2147483648, -2147483904, -9.223372e18}
// out: a_int_rn int32[256]
// out: a_int_rz int32[256]
// out: a_int_rd int32[256]
// out: a_int_ru int32[256]
// out: a_uint_rn uint32[256]
// out: a_uint_rz uint32[256]
// out: a_uint_rd uint32[256]
// out: a_uint_ru uint32[256]
// out: b_int_rn int32[256]
// out: b_int_rz int32[256]
// out: b_int_rd int32[256]
// out: b_int_ru int32[256]
// out: b_uint_rn uint32[256]
// out: b_uint_rz uint32[256]
// out: b_uint_rd uint32[256]
// out: b_uint_ru uint32[256]
// launch: convert_double_int<<<1, 256>>>(a_int_rn, a_int_rz, a_int_rd, a_int_ru, a_uint_rn, a_uint_rz, a_uint_rd, a_uint_ru, b_int_rn, b_int_rz, b_int_rd, b_int_ru, b_uint_rn, b_uint_rz, b_uint_rd, b_uint_ru, a, b)
__global__ void convert_double_int(
    int* a_int_rn,
    int* a_int_rz,
    int* a_int_rd,
    int* a_int_ru,
    unsigned int* a_uint_rn,
    unsigned int* a_uint_rz,
    unsigned int* a_uint_rd,
    unsigned int* a_uint_ru,
    int* b_int_rn,
    int* b_int_rz,
    int* b_int_rd,
    int* b_int_ru,
    unsigned int* b_uint_rn,
    unsigned int* b_uint_rz,
    unsigned int* b_uint_rd,
    unsigned int* b_uint_ru,
    const double* a,
    const double* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    a_int_rn[i] = __double2int_rn(a[i]);
    a_int_rz[i] = __double2int_rz(a[i]);
    a_int_rd[i] = __double2int_rd(a[i]);
    a_int_ru[i] = __double2int_ru(a[i]);
    a_uint_rn[i] = __double2uint_rn(a[i]);
    a_uint_rz[i] = __double2uint_rz(a[i]);
    a_uint_rd[i] = __double2uint_rd(a[i]);
    a_uint_ru[i] = __double2uint_ru(a[i]);
    b_int_rn[i] = __double2int_rn(b[i]);
    b_int_rz[i] = __double2int_rz(b[i]);
    b_int_rd[i] = __double2int_rd(b[i]);
    b_int_ru[i] = __double2int_ru(b[i]);
    b_uint_rn[i] = __double2uint_rn(b[i]);
    b_uint_rz[i] = __double2uint_rz(b[i]);
    b_uint_rd[i] = __double2uint_rd(b[i]);
    b_uint_ru[i] = __double2uint_ru(b[i]);
}
