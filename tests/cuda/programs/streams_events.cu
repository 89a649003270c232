// Streams and events: chunks in several streams, waits between streams, queries, elapsed times.
#include "check.h"
#include <vector>

__global__ void polynomial(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (x[i] + 1) * x[i] + 0.5f;
}

int main()
{
    const int n = 1 << 14, chunks = 4, part = n / chunks;
    float *host, *device;
    CHECK(cudaMallocHost(&host, n * sizeof(float)));
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    for (int i = 0; i < n; ++i)
        host[i] = i % 100;
    cudaStream_t streams[chunks];
    cudaEvent_t start, end, done[chunks];
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    CHECK(cudaEventRecord(start));
    for (int c = 0; c < chunks; ++c) {
        CHECK(cudaStreamCreate(&streams[c]));
        CHECK(cudaEventCreateWithFlags(&done[c], cudaEventDisableTiming));
        float *from = host + c * part, *to = device + c * part;
        CHECK(cudaMemcpyAsync(to, from, part * 4, cudaMemcpyHostToDevice, streams[c]));
        polynomial<<<part / 256, 256, 0, streams[c]>>>(to, part);
        CHECK(cudaMemcpyAsync(from, to, part * 4, cudaMemcpyDeviceToHost, streams[c]));
        CHECK(cudaEventRecord(done[c], streams[c]));
        CHECK(cudaStreamWaitEvent(streams[0], done[c], 0));
    }
    polynomial<<<1, 4, 0, streams[0]>>>(device + n - 4, 4);
    CHECK(cudaEventRecord(end, streams[0]));
    CHECK(cudaEventSynchronize(end));
    for (int c = 0; c < chunks; ++c)
        printf("stream %d: %s %s\n", c, cudaGetErrorName(cudaStreamQuery(streams[c])),
               cudaGetErrorName(cudaEventQuery(done[c])));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    printf("elapsed: %d\n", ms > 0 && ms < 10000);
    printf("no timing: %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, done[0], done[1])));
    cudaGetLastError();
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += host[i];
    printf("sum %.1f\n", sum);
    CHECK(cudaMemcpy(host, device + n - 4, 16, cudaMemcpyDeviceToHost));
    printf("last %.2f %.2f\n", host[0], host[3]);

    cudaEvent_t never;
    CHECK(cudaEventCreate(&never));
    printf("not recorded: %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, start, never)));
    cudaGetLastError();
    for (int c = 0; c < chunks; ++c) {
        CHECK(cudaStreamDestroy(streams[c]));
        CHECK(cudaEventDestroy(done[c]));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaEventDestroy(never));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return 0;
}
