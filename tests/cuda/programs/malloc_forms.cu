// cudaMalloc and cudaFree: sizes, alignment, attributes of pointers, and their errors.
#include "check.h"

int main()
{
    void *nothing = (void *)1;
    CHECK(cudaMalloc(&nothing, 0));
    printf("zero bytes: %s\n", nothing ? "address" : "null");
    CHECK(cudaFree(nullptr));

    char *blocks[4];
    for (int i = 0; i < 4; ++i) {
        CHECK(cudaMalloc(&blocks[i], 1 + 100 * i));
        printf("block %d aligned to 256: %d\n", i, (size_t)blocks[i] % 256 == 0);
    }
    for (int i = 1; i < 4; ++i)
        printf("block %d differs: %d\n", i, blocks[i] != blocks[i - 1]);

    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, blocks[3] + 7));
    printf("device memory: type %d device %d same address %d\n", attributes.type, attributes.device,
           attributes.devicePointer == blocks[3] + 7);
    int local = 0;
    CHECK(cudaPointerGetAttributes(&attributes, &local));
    printf("host memory: type %d\n", attributes.type);

    size_t free_before, free_after, total;
    CHECK(cudaMemGetInfo(&free_before, &total));
    float *large;
    CHECK(cudaMalloc(&large, 64 << 20));
    CHECK(cudaMemGetInfo(&free_after, &total));
    printf("64 MiB are used: %d\n", free_before - free_after >= (64u << 20));
    CHECK(cudaFree(large));
    for (char *block : blocks)
        CHECK(cudaFree(block));

    printf("too large: %s\n", cudaGetErrorName(cudaMalloc(&large, (size_t)1 << 50)));
    printf("last error: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("then: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("free of a host pointer: %s\n", cudaGetErrorName(cudaFree(&local)));
    printf("free twice: %s\n", cudaGetErrorName(cudaFree(blocks[0])));
    printf("malloc to null: %s\n", cudaGetErrorName(cudaMalloc((void **)nullptr, 4)));
    return 0;
}
