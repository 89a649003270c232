// Kernels with many parameters, large structures, pointers in structures, and 64-bit integers.
#include "check.h"

struct Matrix {
    int rows, columns;
    float *data;
};

struct Large {
    unsigned char key;
    long long values[400];
    double last;
};

__global__ void combine(Matrix a, Matrix b, Matrix c)
{
    int i = threadIdx.y, j = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < a.columns; ++k)
        sum += a.data[i * a.columns + k] * b.data[k * b.columns + j];
    c.data[i * c.columns + j] = sum;
}

__global__ void spread(Large large, long long *result)
{
    int i = threadIdx.x;
    result[i] = large.values[i] * large.key + (long long)large.last;
}

__global__ void many(char a, short b, int c, long long d, float e, double f, bool g, float4 h,
                     uchar3 i, int *result)
{
    *result = a + b + c + (int)d + (int)e + (int)f + g + (int)h.w + i.z;
}

int main()
{
    float *data;
    CHECK(cudaMallocManaged(&data, 100 * sizeof(float)));
    for (int i = 0; i < 100; ++i)
        data[i] = i % 7;
    Matrix a = {3, 5, data}, b = {5, 4, data + 20}, c = {3, 4, data + 60};
    combine<<<1, dim3(4, 3)>>>(a, b, c);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 12; ++i)
        printf("%g ", c.data[i]);
    printf("\n");

    Large large;
    large.key = 3;
    large.last = 0.5e12;
    for (int i = 0; i < 400; ++i)
        large.values[i] = 10000000000ll * i - 1;
    long long *result;
    CHECK(cudaMallocManaged(&result, 400 * sizeof(long long)));
    spread<<<1, 400>>>(large, result);
    CHECK(cudaDeviceSynchronize());
    printf("%lld %lld\n", result[0], result[399]);
    many<<<1, 1>>>('a', -2, 30, 400, 0.5f, 6.7, true, make_float4(0, 0, 0, 8), {1, 2, 3},
                   (int *)result);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", *(int *)result);
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    return 0;
}
