// cudaDeviceReset frees everything; the program allocates and launches again afterwards.
#include "check.h"

__device__ int total = 1;

__global__ void add(int value)
{
    total += value;
}

int main()
{
    for (int round = 0; round < 2; ++round) {
        int *x, host;
        CHECK(cudaMalloc(&x, 1 << 20));
        add<<<1, 1>>>(10);
        CHECK(cudaMemcpyFromSymbol(&host, total, sizeof(int)));
        printf("round %d: %d\n", round, host);
        CHECK(cudaDeviceReset());
    }
    int device = -1;
    CHECK(cudaGetDevice(&device));
    printf("device %d\n", device);
    return 0;
}
