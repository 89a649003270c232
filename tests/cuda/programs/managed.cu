// Managed memory: cudaMallocManaged, __managed__ variables, hints, and a linked list.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__managed__ int counter = 40;
__managed__ float table[8] = {1, 2, 3};

__global__ void walk(const Node *node, int *sum)
{
    for (; node; node = node->next)
        *sum += node->value;
    counter += 2;
    table[threadIdx.x + 3] = table[threadIdx.x] * 10;
}

int main()
{
    Node *nodes;
    int *sum;
    CHECK(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
    CHECK(cudaMallocManaged(&sum, sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < 10; ++i)
        nodes[i] = {i * i, i < 9 ? &nodes[i + 1] : nullptr};
    *sum = 0;
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMemAdvise(nodes, 10 * sizeof(Node), cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemPrefetchAsync(nodes, 10 * sizeof(Node), device, 0, 0));
    walk<<<1, 1>>>(nodes, sum);
    CHECK(cudaMemPrefetchAsync(sum, sizeof(int), host, 0, 0));
    CHECK(cudaDeviceSynchronize());
    printf("sum %d counter %d table %g %g\n", *sum, counter, table[0], table[3]);
    counter = 1;
    table[0] = 7;
    walk<<<1, 1>>>(nodes + 8, sum);
    CHECK(cudaDeviceSynchronize());
    printf("sum %d counter %d table %g %g\n", *sum, counter, table[0], table[3]);

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, sum));
    printf("type %d\n", attributes.type);
    int copy;
    CHECK(cudaMemcpy(&copy, sum, sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemset(nodes, 0, sizeof(Node)));
    CHECK(cudaDeviceSynchronize());
    printf("copy %d, cleared %d\n", copy, nodes[0].next == nullptr);
    int supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrManagedMemory, 0));
    printf("supported %d\n", supported);
    CHECK(cudaFree(nodes));
    CHECK(cudaFree(sum));
    return 0;
}
