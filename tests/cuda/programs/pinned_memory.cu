// Pinned and mapped host memory: one pointer for host and device, flags, attributes.
#include "check.h"

__global__ void square(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * from[i];
}

int main()
{
    const int n = 256;
    int *pinned, *mapped, *plain, *alias;
    CHECK(cudaMallocHost(&pinned, n * sizeof(int)));
    CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&plain, n * sizeof(int), cudaHostAllocPortable | cudaHostAllocWriteCombined));
    for (int i = 0; i < n; ++i)
        pinned[i] = i, plain[i] = 2 * i;
    CHECK(cudaHostGetDevicePointer(&alias, mapped, 0));
    printf("same pointer: %d\n", alias == mapped);
    square<<<1, n>>>(pinned, alias, n);
    CHECK(cudaDeviceSynchronize());
    printf("mapped: %d %d %d\n", mapped[1], mapped[100], mapped[255]);
    square<<<2, n / 2>>>(plain, mapped, n);
    CHECK(cudaDeviceSynchronize());
    printf("mapped: %d %d %d\n", mapped[1], mapped[100], mapped[255]);

    unsigned flags;
    CHECK(cudaHostGetFlags(&flags, plain));
    printf("portable %d, write-combined %d\n", (flags & cudaHostAllocPortable) != 0,
           (flags & cudaHostAllocWriteCombined) != 0);
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, pinned + 5));
    printf("type %d, host pointer %d, device pointer %d\n", attributes.type,
           attributes.hostPointer == pinned + 5, attributes.devicePointer == pinned + 5);

    int *device;
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    CHECK(cudaMemcpyAsync(device, pinned, n * sizeof(int), cudaMemcpyHostToDevice));
    square<<<1, n>>>(device, device, n);
    CHECK(cudaMemcpyAsync(pinned, device, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamSynchronize(0));
    printf("copied back: %d %d\n", pinned[3], pinned[200]);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFreeHost(plain));
    CHECK(cudaFree(device));
    return 0;
}
