// A graph that allocates memory: the program frees it outside the graph, and launches it again.
#include "check.h"

#include <cstdio>

__global__ void fill(int *data, int n, int start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = start + i;
}

__global__ void add_up(const int *data, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, data[i]);
}

int main()
{
    const int n = 1000;
    int *sum, *data = nullptr;
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&data, n * sizeof *data, stream));
    fill<<<4, 256, 0, stream>>>(data, n, 5);
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));

    for (int round = 0; round < 3; round++) {
        *sum = 0;
        CHECK(cudaGraphLaunch(run, stream));
        add_up<<<4, 256, 0, stream>>>(data, n, sum);
        CHECK(cudaStreamSynchronize(stream));
        printf("round %d: sum %d\n", round, *sum);
        if (round == 1)
            CHECK(cudaFree(data));
        else
            CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    printf("freed twice: %s\n", cudaGetErrorName(cudaFree(data)));
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(sum));
}
