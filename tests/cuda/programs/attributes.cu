// Attributes of functions and devices that are equal on all GPUs of compute capability 9.0.
// nvcc: -arch=sm_90
#include "check.h"

__global__ void __launch_bounds__(256) bounded(float *x)
{
    __shared__ float tile[512];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[255 - threadIdx.x];
}

__constant__ float weights[100];

__global__ void local(float *x, int i)
{
    float stack[64];
    for (int k = 0; k < 64; ++k)
        stack[k] = x[k] * weights[k];
    x[0] = stack[i];
}

int main()
{
    cudaFuncAttributes f;
    CHECK(cudaFuncGetAttributes(&f, bounded));
    printf("bounded: shared %zu, threads %d, local %zu, registers %d, binary %d\n",
           f.sharedSizeBytes, f.maxThreadsPerBlock, f.localSizeBytes, f.numRegs > 0,
           f.binaryVersion);
    CHECK(cudaFuncGetAttributes(&f, local));
    printf("local: %d, shared %zu, threads %d\n", f.localSizeBytes >= 256, f.sharedSizeBytes,
           f.maxThreadsPerBlock);
    CHECK(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    CHECK(cudaFuncGetAttributes(&f, bounded));
    printf("dynamic %d\n", f.maxDynamicSharedSizeBytes);
    printf("too much: %s\n", cudaGetErrorName(cudaFuncSetAttribute(
                                 bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000)));
    cudaGetLastError();
    CHECK(cudaFuncSetCacheConfig(bounded, cudaFuncCachePreferShared));
    const char *name = nullptr;
    CHECK(cudaFuncGetName(&name, (const void *)bounded));
    printf("name %s\n", name);

    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("capability %d.%d, warp %d, threads %d, block %d %d %d, grid %d %d %d\n", p.major,
           p.minor, p.warpSize, p.maxThreadsPerBlock, p.maxThreadsDim[0], p.maxThreadsDim[1],
           p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    printf("shared %zu, opt-in %zu, SM %zu, reserved %zu, constant %zu\n", p.sharedMemPerBlock,
           p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock,
           p.totalConstMem);
    printf("registers %d %d, threads of an SM %d, blocks %d\n", p.regsPerBlock,
           p.regsPerMultiprocessor, p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
    printf("unified %d, managed %d, concurrent %d, cooperative %d, cluster %d, mapped %d\n",
           p.unifiedAddressing, p.managedMemory, p.concurrentKernels, p.cooperativeLaunch,
           p.clusterLaunch, p.canMapHostMemory);
    printf("textures %d, %d x %d, %d x %d x %d, alignment %zu %zu\n", p.maxTexture1D,
           p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1],
           p.maxTexture3D[2], p.textureAlignment, p.texturePitchAlignment);
    int value;
    for (cudaDeviceAttr a : {cudaDevAttrMaxThreadsPerBlock, cudaDevAttrComputeCapabilityMajor,
                             cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrMaxPitch,
                             cudaDevAttrWarpSize, cudaDevAttrMaxRegistersPerBlock}) {
        CHECK(cudaDeviceGetAttribute(&value, a, 0));
        printf("attribute %d: %d\n", a, value);
    }
    printf("unknown: %s\n", cudaGetErrorName(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0)));
    printf("no device: %s\n", cudaGetErrorName(cudaGetDeviceProperties(&p, 99)));
    return 0;
}
