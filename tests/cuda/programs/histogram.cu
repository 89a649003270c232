// A histogram of letters: atomics in global memory, and private copies in shared memory.
#include "check.h"
#include <string>

__global__ void global_bins(const char *text, int n, unsigned *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (text[i] >= 'a' && text[i] <= 'z')
            atomicAdd(&bins[text[i] - 'a'], 1);
}

__global__ void private_bins(const char *text, int n, unsigned *bins)
{
    __shared__ unsigned own[26];
    if (threadIdx.x < 26)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (text[i] >= 'a' && text[i] <= 'z')
            atomicAdd(&own[text[i] - 'a'], 1);
    __syncthreads();
    if (threadIdx.x < 26)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main()
{
    std::string text;
    for (int i = 0; i < 700; ++i)
        text += "a program runs on the device; " + std::to_string(i);
    char *device;
    unsigned *bins, host[26];
    CHECK(cudaMalloc(&device, text.size()));
    CHECK(cudaMalloc(&bins, sizeof(host)));
    CHECK(cudaMemcpy(device, text.data(), text.size(), cudaMemcpyHostToDevice));
    for (auto kernel : {global_bins, private_bins}) {
        CHECK(cudaMemset(bins, 0, sizeof(host)));
        kernel<<<8, 128>>>(device, text.size(), bins);
        CHECK(cudaMemcpy(host, bins, sizeof(host), cudaMemcpyDeviceToHost));
        for (int i = 0; i < 26; ++i)
            if (host[i])
                printf("%c%u ", 'a' + i, host[i]);
        printf("\n");
    }
    CHECK(cudaFree(device));
    CHECK(cudaFree(bins));
    return 0;
}
