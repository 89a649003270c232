// Clocks of the device only move forward; sleeping takes at least half of the requested time.
#include "check.h"

__global__ void measure(long long *result)
{
    long long start = clock64();
    unsigned long long begin, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    __nanosleep(20000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    result[0] = clock64() - start;
    result[1] = end - begin;
}

int main()
{
    long long *x, host[2];
    CHECK(cudaMalloc(&x, sizeof(host)));
    measure<<<1, 1>>>(x);
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    printf("cycles pass %d, nanoseconds pass %d\n", host[0] > 1000, host[1] >= 5000);
    CHECK(cudaFree(x));
    return 0;
}
