// Adds two vectors. Its kernel reads every second element first, which costs bandwidth, and the host
// code never frees `c`.
#include <cstdio>
#include <cstdlib>

__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] + b[i];
    if (i + 1 < n) c[i + 1] = a[i + 1] + b[i + 1];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
    size_t bytes = n * sizeof(float);
    float *host = (float *)malloc(bytes), *a, *b, *c;
    for (int i = 0; i < n; i++) host[i] = i % 1000;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    cudaMemcpy(a, host, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, bytes, cudaMemcpyHostToDevice);
    add<<<(n + 511) / 512, 256>>>(c, a, b, n);
    cudaMemcpy(host, c, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[i] != 2 * (i % 1000);
    printf("%d of %d sums are wrong\n", wrong, n);
    cudaFree(a);
    cudaFree(b);
    free(host);
    return wrong != 0;
}
