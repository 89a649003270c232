// Arithmetic on what all threads of a block have in common: sm_120 does it once a warp.
// out: y int32[256]
// out: z float32[768]
// launch: integers<<<4, 64>>>(y, 12345, -77, 3000000000, 70000)
// launch: sums<<<4, 64>>>(z, 1071225242, -1097229926, 1075838976, 3)
// launch: roundings<<<4, 64>>>(z, 1335165689, -1097229926)
// launch: choices<<<4, 64>>>(z, -831624408, 1335165689, 1036831949)
__global__ void integers(int* y, int n, int m, unsigned a, unsigned b)
{
    const unsigned block = blockIdx.x * 7u + 1u;
    int sum = min(n, static_cast<int>(block)) + max(m, n) + abs(n) + __popc(a) + __clz(b);
    sum += static_cast<int>(max(a, block) + min(b, a) + __brev(block)) + __ffs(a);
    sum += static_cast<int>((a << (block & 31)) + (a >> (block & 31))) + (n >> (block & 7));
    sum += static_cast<int>(__byte_perm(a, b, 0x3210 ^ block)) + (n > m && a < b ? 5 : 9);
    sum += static_cast<int>(__umulhi(a, b)) + static_cast<int>(a % b) + n / m;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum + threadIdx.x;
}

// The floats are given by their bits: 1.7, -0.3, 2.5.
__global__ void sums(float* z, int f_bits, int g_bits, int h_bits, int n)
{
    const float f = __int_as_float(f_bits), g = __int_as_float(g_bits);
    float sum = __fmaf_rn(f, g, __int_as_float(h_bits));
    sum = __fadd_rn(sum, __int2float_rn(n * static_cast<int>(blockIdx.x)));
    sum = __fmul_rz(__fadd_ru(sum, f), __fmaf_rd(f, g, sum));
    z[blockIdx.x * blockDim.x + threadIdx.x] = sum * threadIdx.x;
}

// 5e9, -0.3.
__global__ void roundings(float* z, int f_bits, int g_bits)
{
    const float f = __int_as_float(f_bits), g = __int_as_float(g_bits);
    float sum = __fadd_rn(floorf(g), ceilf(__fmul_rn(g, 7.0f)));
    sum = __fadd_rn(sum, __uint2float_rn(static_cast<unsigned>(f) >> 4));
    sum = __fadd_rn(sum, __int2float_rn(static_cast<int>(__fmul_rn(g, -50.0f)) + blockIdx.x));
    z[256 + blockIdx.x * blockDim.x + threadIdx.x] = sum * threadIdx.x;
}

// -1e9, 5e9, 0.1.
__global__ void choices(float* z, int f_bits, int g_bits, int h_bits)
{
    const float f = __int_as_float(f_bits), g = __int_as_float(g_bits), h = __int_as_float(h_bits);
    float sum = __fadd_rn(fminf(f, g), fmaxf(g, fabsf(h)));
    sum = f > __fmul_rn(g, __uint2float_rn(blockIdx.x)) ? sum : __fadd_rn(sum, h);
    z[512 + blockIdx.x * blockDim.x + threadIdx.x] = sum * threadIdx.x;
}
