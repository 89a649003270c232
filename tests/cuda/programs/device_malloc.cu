// malloc, free, new and delete in kernels, with a heap of chosen size; lists live across launches.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__device__ Node *heads[64];

__global__ void build(int length)
{
    Node *head = nullptr;
    for (int i = 0; i < length; ++i) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->value = threadIdx.x * i;
        node->next = head;
        head = node;
    }
    heads[threadIdx.x] = head;
}

__global__ void consume(int *sums)
{
    int sum = 0;
    for (Node *node = heads[threadIdx.x]; node;) {
        Node *next = node->next;
        sum += node->value;
        free(node);
        node = next;
    }
    int *copy = new int[4];
    copy[3] = sum;
    sums[threadIdx.x] = copy[3];
    delete[] copy;
}

__global__ void too_much(int *failed)
{
    *failed = malloc((size_t)1 << 40) == nullptr;
}

int main()
{
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    size_t bytes;
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap: %zu MiB\n", bytes >> 20);
    int *sums, host[64];
    CHECK(cudaMalloc(&sums, sizeof(host)));
    build<<<1, 64>>>(10);
    consume<<<1, 64>>>(sums);
    CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", host[0], host[1], host[63]);
    too_much<<<1, 1>>>(sums);
    CHECK(cudaMemcpy(host, sums, sizeof(int), cudaMemcpyDeviceToHost));
    printf("too much fails: %d\n", host[0]);
    CHECK(cudaFree(sums));
    return 0;
}
