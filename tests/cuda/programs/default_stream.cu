// The legacy default stream waits for blocking streams; priorities, flags and identifiers of streams.
#include "check.h"

__global__ void slow_set(int *x, int value, int rounds)
{
    volatile int sum = 0;
    for (int i = 0; i < rounds; ++i)
        sum = sum + i;
    *x = value + (sum == -1);
}

__global__ void double_it(int *x)
{
    *x *= 2;
}

int main()
{
    int *x, host;
    CHECK(cudaMalloc(&x, sizeof(int)));
    cudaStream_t first, second, aside;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    slow_set<<<1, 1, 0, first>>>(x, 3, 2000);
    double_it<<<1, 1>>>(x);
    double_it<<<1, 1, 0, second>>>(x);
    double_it<<<1, 1, 0, cudaStreamLegacy>>>(x);
    CHECK(cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
    slow_set<<<1, 1, 0, aside>>>(x, 9, 2000);
    CHECK(cudaStreamSynchronize(aside));
    CHECK(cudaMemcpy(&host, x, sizeof(int), cudaMemcpyDeviceToHost));
    printf("value %d\n", host);

    unsigned flags;
    CHECK(cudaStreamGetFlags(first, &flags));
    printf("flags %u ", flags);
    CHECK(cudaStreamGetFlags(aside, &flags));
    printf("%u\n", flags);
    int least, greatest, priority;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("range %d to %d\n", least, greatest);
    cudaStream_t urgent;
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, greatest));
    CHECK(cudaStreamGetPriority(urgent, &priority));
    printf("priority %d\n", priority);
    unsigned long long one, two;
    CHECK(cudaStreamGetId(first, &one));
    CHECK(cudaStreamGetId(second, &two));
    printf("different streams: %d\n", one != two);
    int device = -1;
    CHECK(cudaStreamGetDevice(urgent, &device));
    printf("device %d\n", device);
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaStreamDestroy(aside));
    CHECK(cudaStreamDestroy(urgent));
    CHECK(cudaFree(x));
    return 0;
}
