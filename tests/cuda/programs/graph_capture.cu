// A graph captured from two streams, instantiated, launched several times and updated.
#include "check.h"

__global__ void add(float *x, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += value;
}

cudaGraph_t capture(cudaStream_t main_stream, cudaStream_t side, float *x, float *y, float *host,
                    float value, int n)
{
    cudaEvent_t fork, join;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(main_stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(x, 0, n * sizeof(float), main_stream));
    CHECK(cudaEventRecord(fork, main_stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    add<<<n / 64, 64, 0, main_stream>>>(x, value, n);
    add<<<n / 64, 64, 0, side>>>(y, 1, n);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(main_stream, join, 0));
    CHECK(cudaMemcpyAsync(host, x, sizeof(float), cudaMemcpyDeviceToHost, main_stream));
    CHECK(cudaMemcpyAsync(host + 1, y, sizeof(float), cudaMemcpyDeviceToHost, main_stream));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(main_stream, &status));
    printf("capturing %d\n", status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(main_stream, &graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    return graph;
}

int main()
{
    const int n = 256;
    float *x, *y, *host;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMallocHost(&host, 2 * sizeof(float)));
    CHECK(cudaMemset(y, 0, n * sizeof(float)));
    host[0] = host[1] = -1;
    cudaStream_t stream, side;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    cudaGraph_t graph = capture(stream, side, x, y, host, 2.5f, n);
    printf("nothing ran yet: %g %g\n", host[0], host[1]);
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes %zu\n", nodes);
    cudaGraphExec_t program;
    CHECK(cudaGraphInstantiate(&program, graph, 0));
    for (int i = 0; i < 3; ++i)
        CHECK(cudaGraphLaunch(program, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("after three launches: %g %g\n", host[0], host[1]);

    cudaGraph_t changed = capture(stream, side, x, y, host, 7, n);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(program, changed, &info));
    CHECK(cudaGraphLaunch(program, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("after the update: %g %g, result %d\n", host[0], host[1], info.result);
    CHECK(cudaGraphExecDestroy(program));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(changed));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(side));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(host));
    return 0;
}
