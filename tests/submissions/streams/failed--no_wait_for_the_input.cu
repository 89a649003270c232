// The kernels do not wait for the copies of their input, which are in another stream.
#include "smooth.cuh"
#include <algorithm>
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

constexpr int STREAMS = 8, CHUNKS = 16;

float *allocate_signals(size_t count)
{
    float *signals;
    CHECK(cudaMallocHost(&signals, count * sizeof(float)));
    return signals;
}

void release_signals(float *signals)
{
    CHECK(cudaFreeHost(signals));
}

void smooth_all(float *out, const float *in, int groups, int samples, float rate)
{
    size_t length = (size_t)samples * GROUP;
    float *device_in, *device_out;
    CHECK(cudaMalloc(&device_in, groups * length * sizeof(float)));
    CHECK(cudaMalloc(&device_out, groups * length * sizeof(float)));
    cudaStream_t streams[STREAMS];
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreate(&stream));
    int chunk = (groups + CHUNKS - 1) / CHUNKS;
    for (int first = 0, turn = 0; first < groups; first += chunk, ++turn) {
        cudaStream_t stream = streams[2 + turn % (STREAMS - 2)];
        cudaEvent_t arrived, done;
        CHECK(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
        int count = std::min(chunk, groups - first);
        size_t begin = first * length, bytes = count * length * sizeof(float);
        CHECK(cudaMemcpyAsync(device_in + begin, in + begin, bytes, cudaMemcpyHostToDevice, streams[0]));
        CHECK(cudaEventRecord(arrived, streams[0]));
        smooth<<<count, GROUP, 0, stream>>>(device_out + begin, device_in + begin, samples, rate);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(done, stream));
        CHECK(cudaStreamWaitEvent(streams[1], done, 0));
        CHECK(cudaMemcpyAsync(out + begin, device_out + begin, bytes, cudaMemcpyDeviceToHost, streams[1]));
        CHECK(cudaEventDestroy(arrived));
        CHECK(cudaEventDestroy(done));
    }
    for (cudaStream_t stream : streams) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
}
