#include "filter.h"

__global__ void filter(const float *from, float *to, int n, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0, weights = 0;
    for (int k = 0; k < length; ++k) {
        int j = i + k - length / 2;
        if (j < 0 || j >= n)
            continue;
        sum += window(k, length) * from[j];
        weights += window(k, length);
    }
    to[i] = sum / weights;
}

void smooth(const float *from, float *to, int n, int length)
{
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemcpy(x, from, n * sizeof(float), cudaMemcpyHostToDevice);
    filter<<<(n + 127) / 128, 128>>>(x, y, n, length);
    cudaMemcpy(to, y, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
}
