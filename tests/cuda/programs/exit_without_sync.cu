// main returns while a kernel may still run; its printf is not synchronised.
#include "check.h"

__global__ void late(int *x)
{
    *x = 1;
}

int main()
{
    int *x;
    CHECK(cudaMalloc(&x, sizeof(int)));
    late<<<1, 1>>>(x);
    printf("launched: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 5;
}
