// Smooths many signals on the GPU. It is right, and slow: the GPU and the link wait for each other.
#include "smooth.cuh"
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

float *allocate_signals(size_t count)
{
    return (float *)malloc(count * sizeof(float));
}

void release_signals(float *signals)
{
    free(signals);
}

void smooth_all(float *out, const float *in, int groups, int samples, float rate)
{
    size_t bytes = (size_t)groups * samples * GROUP * sizeof(float);
    float *device_in, *device_out;
    CHECK(cudaMalloc(&device_in, bytes));
    CHECK(cudaMalloc(&device_out, bytes));
    CHECK(cudaMemcpy(device_in, in, bytes, cudaMemcpyHostToDevice));
    smooth<<<groups, GROUP>>>(device_out, device_in, samples, rate);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));
}
