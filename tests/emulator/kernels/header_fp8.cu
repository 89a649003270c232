// cuda_fp8.h, cuda_fp6.h and cuda_fp4.h: every code of each type to halves and floats, and floats to codes in each rounding.
// levels: 3
// in: x float32[256] = edges
// in: n float32[256] = normal
// out: wide float32[1536]
// out: codes uint32[4096]
// launch: run<<<1, 256>>>(wide, codes, x, n)
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
__global__ void run(float* wide, unsigned int* codes, const float* x, const float* n)
{
    const int i = threadIdx.x;
    __nv_fp8_e4m3 a;
    __nv_fp8_e5m2 b;
    __nv_fp6_e2m3 c;
    __nv_fp6_e3m2 d;
    __nv_fp4_e2m1 e;
    __nv_fp8_e8m0 f;
    a.__x = b.__x = f.__x = i, c.__x = d.__x = i & 63, e.__x = i & 15;
    wide[i] = (float)a, wide[256 + i] = (float)b, wide[512 + i] = (float)c;
    wide[768 + i] = (float)d, wide[1024 + i] = (float)e, wide[1280 + i] = (float)f;
    const float both[2] = {x[i], n[i]};
    for (int k = 0; k < 2; ++k) {
        const float v = both[k];
        unsigned int* out = codes + 2048 * k + i;
        out[0] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
        out[256] = __nv_cvt_float_to_fp8(v, __NV_NOSAT, __NV_E5M2);
        out[512] = __nv_cvt_float_to_fp6(v, __NV_E2M3, cudaRoundNearest);
        out[768] = __nv_cvt_float_to_fp6(v, __NV_E3M2, cudaRoundNearest);
        out[1024] = __nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest);
        out[1280] = __nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf);
        out[1536] = __nv_cvt_double_to_fp8(v * 1.0000001, __NV_SATFINITE, __NV_E5M2);
        out[1792] = __nv_cvt_float2_to_fp8x2(make_float2(v, -v), __NV_SATFINITE, __NV_E4M3);
    }
}
