// Half and bfloat16 values from host to device, arithmetic in pairs, and a product by tensor cores.
// nvcc: -arch=sm_90
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void pairs(const __half2 *a, const __half2 *b, __half2 *c)
{
    int i = threadIdx.x;
    c[i] = __hfma2(a[i], b[i], __float2half2_rn(0.5f));
}

__global__ void brain(const float *a, __nv_bfloat16 *b)
{
    b[threadIdx.x] = __float2bfloat16(a[threadIdx.x]) * __float2bfloat16(1.5f);
}

__global__ void product(const __half *a, const __half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::fill_fragment(fc, 1.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main()
{
    __half *a, *b, *c;
    float *d;
    __nv_bfloat16 *e;
    CHECK(cudaMallocManaged(&a, 256 * sizeof(__half)));
    CHECK(cudaMallocManaged(&b, 256 * sizeof(__half)));
    CHECK(cudaMallocManaged(&c, 256 * sizeof(__half)));
    CHECK(cudaMallocManaged(&d, 256 * sizeof(float)));
    CHECK(cudaMallocManaged(&e, 256 * sizeof(__nv_bfloat16)));
    for (int i = 0; i < 256; ++i) {
        a[i] = __float2half(i % 16 * 0.25f);
        b[i] = __float2half(i % 5 - 2);
        d[i] = 1.0f / (i + 1);
    }
    pairs<<<1, 128>>>((__half2 *)a, (__half2 *)b, (__half2 *)c);
    brain<<<1, 256>>>(d, e);
    CHECK(cudaDeviceSynchronize());
    printf("half %g %g %g\n", __half2float(c[0]), __half2float(c[15]), __half2float(c[254]));
    printf("bfloat16 %g %g %g\n", __bfloat162float(e[0]), __bfloat162float(e[2]),
           __bfloat162float(e[255]));
    product<<<1, 32>>>(a, b, d);
    CHECK(cudaDeviceSynchronize());
    double sum = 0;
    for (int i = 0; i < 256; ++i)
        sum += d[i];
    printf("product %g %g sum %g\n", d[0], d[17], sum);
    for (void *p : {(void *)a, (void *)b, (void *)c, (void *)d, (void *)e})
        CHECK(cudaFree(p));
    return 0;
}
