// Host functions in a stream: cudaLaunchHostFunc and cudaStreamAddCallback run in stream order.
#include "check.h"
#include <string>

struct Log {
    std::string text;
    const int *value;
};

__global__ void set(int *x, int value)
{
    *x = value;
}

void CUDART_CB note(void *data)
{
    Log *log = (Log *)data;
    log->text += "function " + std::to_string(*log->value) + "; ";
}

void CUDART_CB notify(cudaStream_t, cudaError_t status, void *data)
{
    Log *log = (Log *)data;
    log->text += std::string("callback ") + cudaGetErrorName(status) + " " +
                 std::to_string(*log->value) + "; ";
}

int main()
{
    int *pinned, *device;
    CHECK(cudaMallocHost(&pinned, sizeof(int)));
    CHECK(cudaMalloc(&device, sizeof(int)));
    *pinned = 0;
    Log log = {"", pinned};
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 1; i <= 3; ++i) {
        set<<<1, 1, 0, stream>>>(device, 11 * i);
        CHECK(cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, note, &log));
        if (i == 2)
            CHECK(cudaStreamAddCallback(stream, notify, &log, 0));
    }
    CHECK(cudaStreamSynchronize(stream));
    printf("%s\n", log.text.c_str());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return 0;
}
