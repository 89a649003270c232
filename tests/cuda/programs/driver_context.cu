// Contexts of the driver API: create, push, pop, the primary context, limits, and use of the runtime.
// nvcc: -lcuda
#include "driver.h"
#include <cuda_runtime.h>

__global__ void add(int *x)
{
    x[threadIdx.x] += threadIdx.x;
}

int main()
{
    CUdevice device;
    CUcontext own, primary, current;
    int count, active;
    unsigned flags;
    printf("before cuInit: %s\n", name_of(cuDeviceGetCount(&count)));
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    printf("no device: %s\n", name_of(cuDeviceGet(&device, 1000)));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxGetCurrent(&current));
    printf("no context: %d\n", current == nullptr);
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("primary active %d\n", active);

    CHECK(cuCtxCreate(&own, nullptr, 0, device));
    CHECK(cuCtxGetCurrent(&current));
    printf("current is ours: %d\n", current == own);
    CUdevice found = -1;
    CHECK(cuCtxGetDevice(&found));
    printf("device %d\n", found == device);
    size_t stack;
    CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    CHECK(cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE));
    printf("stack %zu\n", stack);

    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    CHECK(cuCtxPushCurrent(primary));
    int *x, host[4] = {10, 20, 30, 40};
    cudaMalloc(&x, sizeof(host));
    CHECK(cuMemcpyHtoD((CUdeviceptr)x, host, sizeof(host)));
    add<<<1, 4>>>(x);
    CHECK(cuCtxSynchronize());
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    printf("runtime and driver: %d %d\n", host[0], host[3]);
    cudaFree(x);
    CHECK(cuCtxPopCurrent(&current));
    printf("popped the primary: %d\n", current == primary);
    CHECK(cuCtxGetCurrent(&current));
    printf("current is ours: %d\n", current == own);
    CHECK(cuDevicePrimaryCtxRelease(device));
    CHECK(cuCtxDestroy(own));
    CHECK(cuCtxGetCurrent(&current));
    printf("no context: %d\n", current == nullptr);
    return 0;
}
