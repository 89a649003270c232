// Two devices: peer copies, peer access, memory and streams of each; without two it ends early.
#include "check.h"

__global__ void multiply(int *to, const int *from, int n)
{
    int i = threadIdx.x;
    if (i < n)
        to[i] = 2 * from[i];
}

int main()
{
    int devices;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        printf("one device\n");
        return 0;
    }
    const int n = 100;
    int *x[2], host[n], can = 0;
    cudaStream_t streams[2];
    for (int d = 0; d < 2; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&x[d], n * sizeof(int)));
        CHECK(cudaStreamCreate(&streams[d]));
        cudaPointerAttributes attributes;
        CHECK(cudaPointerGetAttributes(&attributes, x[d]));
        printf("device %d\n", attributes.device);
    }
    for (int i = 0; i < n; ++i)
        host[i] = i;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(x[0], host, sizeof(host), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyPeer(x[1], 1, x[0], 0, sizeof(host)));
    CHECK(cudaDeviceCanAccessPeer(&can, 1, 0));
    printf("access possible %d\n", can);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    printf("twice: %s\n", cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
    cudaGetLastError();
    multiply<<<1, 128, 0, streams[1]>>>(x[0], x[1], n);
    CHECK(cudaMemcpyPeerAsync(x[1], 1, x[0], 0, sizeof(host) / 2, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
    CHECK(cudaMemcpy(host, x[1], sizeof(host), cudaMemcpyDefault));
    printf("%d %d %d\n", host[1], host[49], host[50]);
    multiply<<<1, 32, 0, streams[0]>>>(x[1], x[1], n);
    printf("stream of another device: %s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaDeviceDisablePeerAccess(0));
    for (int d = 0; d < 2; ++d) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(x[d]));
        CHECK(cudaStreamDestroy(streams[d]));
    }
    printf("no third device: %s\n", cudaGetErrorName(cudaSetDevice(devices)));
    return 0;
}
