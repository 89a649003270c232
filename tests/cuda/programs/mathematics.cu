// Mathematical functions in both precisions, intrinsics, rounding modes and integer functions.
#include "check.h"

__global__ void functions(float *f, double *d, int *n)
{
    float x = 0.1f + threadIdx.x * 0.37f;
    double y = x;
    float *a = f + threadIdx.x * 12;
    a[0] = sinf(x), a[1] = cosf(x * 100), a[2] = expf(x), a[3] = logf(x), a[4] = powf(x, 2.3f);
    a[5] = tanhf(x), a[6] = rsqrtf(x), a[7] = cbrtf(x), a[8] = erff(x), a[9] = tgammaf(x);
    a[10] = fmodf(x * 10, 0.7f), a[11] = atan2f(x, 0.5f);
    double *b = d + threadIdx.x * 6;
    b[0] = sin(y), b[1] = exp(y), b[2] = log1p(y), b[3] = pow(y, -1.7), b[4] = sqrt(y), b[5] = lgamma(y);
    int *c = n + threadIdx.x * 10;
    int v = 0x12345 * (threadIdx.x + 1);
    c[0] = __popc(v), c[1] = __clz(v), c[2] = __ffs(v), c[3] = __brev(v) >> 8;
    c[4] = __byte_perm(v, 0x7766, 0x5140), c[5] = __mulhi(v, 1 << 20), c[6] = __sad(v, -5, 3);
    c[7] = __float2int_rd(-x), c[8] = __float2int_ru(x), c[9] = __double2int_rn(y * 3);
}

int main()
{
    float *f, hf[48];
    double *d, hd[24];
    int *n, hn[40];
    CHECK(cudaMalloc(&f, sizeof(hf)));
    CHECK(cudaMalloc(&d, sizeof(hd)));
    CHECK(cudaMalloc(&n, sizeof(hn)));
    functions<<<1, 4>>>(f, d, n);
    CHECK(cudaMemcpy(hf, f, sizeof(hf), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hd, d, sizeof(hd), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hn, n, sizeof(hn), cudaMemcpyDeviceToHost));
    for (int t = 0; t < 4; ++t) {
        for (int i = 0; i < 12; ++i)
            printf("%.5g ", hf[12 * t + i]);
        for (int i = 0; i < 6; ++i)
            printf("%.10g ", hd[6 * t + i]);
        for (int i = 0; i < 10; ++i)
            printf("%d ", hn[10 * t + i]);
        printf("\n");
    }
    CHECK(cudaFree(f));
    CHECK(cudaFree(d));
    CHECK(cudaFree(n));
    return 0;
}
