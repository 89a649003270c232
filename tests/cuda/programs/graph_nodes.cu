// A graph built from nodes: set, copy, kernel, host function, child graph; new kernel parameters.
#include "check.h"
#include <vector>

__global__ void fused(int *x, int factor, int n)
{
    int i = threadIdx.x;
    if (i < n)
        x[i] = x[i] * factor + i;
}

void CUDART_CB report(void *data)
{
    printf("host function: %d\n", *(int *)data);
}

int main()
{
    int n = 8, factor = 3, *x, *pinned;
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    cudaGraph_t graph, child;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));

    cudaGraphNode_t set, kernel, copy, host, inner, empty;
    cudaMemsetParams set_parameters = {};
    set_parameters.dst = x;
    set_parameters.value = 5;
    set_parameters.elementSize = 4;
    set_parameters.width = n;
    set_parameters.height = 1;
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &set_parameters));

    void *arguments[] = {&x, &factor, &n};
    cudaKernelNodeParams kernel_parameters = {};
    kernel_parameters.func = (void *)fused;
    kernel_parameters.gridDim = 1;
    kernel_parameters.blockDim = 32;
    kernel_parameters.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &kernel_parameters));
    cudaGraphNode_t in_child;
    CHECK(cudaGraphAddKernelNode(&in_child, child, nullptr, 0, &kernel_parameters));
    CHECK(cudaGraphAddChildGraphNode(&inner, graph, &kernel, 1, child));
    CHECK(cudaGraphAddEmptyNode(&empty, graph, &inner, 1));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &empty, 1, pinned, x, n * sizeof(int),
                                   cudaMemcpyDeviceToHost));
    cudaHostNodeParams host_parameters = {report, pinned + 1};
    CHECK(cudaGraphAddHostNode(&host, graph, nullptr, 0, &host_parameters));
    CHECK(cudaGraphAddDependencies(graph, &copy, &host, nullptr, 1));

    size_t edges, nodes, roots;
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(inner, &type));
    printf("nodes %zu edges %zu roots %zu, child graph %d\n", nodes, edges, roots,
           type == cudaGraphNodeTypeGraph);

    cudaGraphExec_t program;
    CHECK(cudaGraphInstantiate(&program, graph, 0));
    CHECK(cudaGraphLaunch(program, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", pinned[0], pinned[1], pinned[7]);
    factor = 10;
    CHECK(cudaGraphExecKernelNodeSetParams(program, kernel, &kernel_parameters));
    CHECK(cudaGraphLaunch(program, 0));
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", pinned[0], pinned[1], pinned[7]);

    cudaGraph_t copied;
    CHECK(cudaGraphClone(&copied, graph));
    CHECK(cudaGraphGetNodes(copied, nullptr, &nodes));
    printf("clone: %zu nodes\n", nodes);
    CHECK(cudaGraphExecDestroy(program));
    CHECK(cudaGraphDestroy(copied));
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(x));
    CHECK(cudaFreeHost(pinned));
    return 0;
}
