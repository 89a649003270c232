// An illegal address stays the error of the context: return codes after it, and after a reset.
#include <cstdio>
#include <cuda_runtime.h>
#define SHOW(call)                                                                                 \
    do {                                                                                           \
        cudaError_t e_ = (call);                                                                   \
        cudaError_t p_ = cudaPeekAtLastError();                                                    \
        cudaError_t l_ = cudaGetLastError();                                                       \
        printf("%-70s %d peek %d last %d again %d\n", #call, (int)e_, (int)p_, (int)l_,            \
               (int)cudaGetLastError());                                                           \
    } while (0)
__global__ void plain(int *p)
{
    if (p)
        *p = 1;
}
__global__ void is_bad(int *p)
{
    p[0] = 1;
}
int main()
{
    int *d = 0, host[1024] = {};
    void *v = (void *)1;
    size_t z;
    cudaEvent_t e;
    cudaStream_t s;
    cudaDeviceProp p;
    cudaMalloc(&d, 4096);
    is_bad<<<1, 1>>>((int *)16);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&v, 16));
    SHOW(cudaFree(d));
    SHOW(cudaPeekAtLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaMemcpy(host, d, 4, cudaMemcpyDefault));
    SHOW(cudaGetDeviceCount(host));
    SHOW(cudaSetDevice(0));
    SHOW(cudaEventCreate(&e));
    SHOW(cudaStreamCreate(&s));
    plain<<<1, 1>>>(0);
    SHOW(cudaGetLastError());
    SHOW(cudaGetDevice(host));
    SHOW(cudaGetDeviceProperties(&p, 0));
    SHOW(cudaMallocHost(&v, 16));
    SHOW(cudaMemGetInfo(&z, &z));
    SHOW(cudaDeviceReset());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&v, 16));
    return 0;
}
