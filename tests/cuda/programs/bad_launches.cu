// Launches with a bad configuration: the error appears at the launch, and later launches work.
#include "check.h"

__global__ void __launch_bounds__(128) limited(int *x)
{
    x[threadIdx.x] = threadIdx.x;
}

__global__ void free_of_limits(int *x)
{
    extern __shared__ int tile[];
    tile[0] = 1;
    x[0] += tile[0];
}

int main()
{
    int *x, host = -1;
    CHECK(cudaMalloc(&x, 4096));
    CHECK(cudaMemset(x, 0, 4096));
    struct {
        const char *name;
        dim3 grid, block;
        size_t shared;
    } rows[] = {
        {"block of 1025", 1, 1025, 0},
        {"block of 0", 1, 0, 0},
        {"grid of 0", 0, 32, 0},
        {"grid y of 65536", dim3(1, 65536), 1, 0},
        {"grid z of 65536", dim3(1, 1, 65536), 1, 0},
        {"block z of 65", 1, dim3(1, 1, 65), 0},
        {"block of 2 * 1024", 1, dim3(2, 1024), 0},
        {"50000 bytes of shared memory", 1, 32, 50000},
        {"good", 1, 32, 1000},
    };
    for (auto &row : rows) {
        free_of_limits<<<row.grid, row.block, row.shared>>>(x);
        cudaError_t error = cudaGetLastError();
        printf("%s: %s\n", row.name, cudaGetErrorName(error));
    }
    limited<<<1, 256>>>(x);
    printf("beyond the launch bounds: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("not a kernel: %s\n",
           cudaGetErrorName(cudaLaunchKernel((void *)main, dim3(1), dim3(1), nullptr, 0, 0)));
    cudaGetLastError();
    CHECK(cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost));
    printf("x %d\n", host);
    return 0;
}
