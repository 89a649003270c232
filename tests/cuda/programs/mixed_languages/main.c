// C99 host code that uses the runtime API and a kernel of another file.
#include "kernels.h"
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    float host[100], *x = NULL;
    for (int i = 0; i < 100; ++i)
        host[i] = i;
    if (cudaMalloc((void **)&x, sizeof host) != cudaSuccess)
        return EXIT_FAILURE;
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 1; i < argc; ++i)
        multiply(x, atof(argv[i]), 100);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(x);
    printf("%g %g: %s\n", host[1], host[99], cudaGetErrorString(cudaGetLastError()));
    return EXIT_SUCCESS;
}
