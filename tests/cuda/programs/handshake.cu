// A running kernel and the host exchange values through mapped memory.
#include "check.h"

__global__ void serve(volatile int *request, volatile int *answer)
{
    for (int round = 1; round <= 5; ++round) {
        while (*request != round) {
        }
        answer[1] = round * round;
        __threadfence_system();
        answer[0] = round;
    }
}

int main()
{
    volatile int *request, *answer;
    CHECK(cudaHostAlloc((void **)&request, sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostAlloc((void **)&answer, 2 * sizeof(int), cudaHostAllocMapped));
    *request = answer[0] = answer[1] = 0;
    serve<<<1, 1>>>(request, answer);
    CHECK(cudaGetLastError());
    for (int round = 1; round <= 5; ++round) {
        *request = round;
        __sync_synchronize();
        while (answer[0] != round) {
        }
        printf("round %d: %d\n", round, answer[1]);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost((void *)request));
    CHECK(cudaFreeHost((void *)answer));
    return 0;
}
