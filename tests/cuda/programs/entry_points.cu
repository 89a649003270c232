// Driver functions found through the runtime: cudaGetDriverEntryPointByVersion.
#include "check.h"
#include <cuda.h>

int main()
{
    CHECK(cudaFree(0));
    cudaDriverEntryPointQueryResult status;
    decltype(&cuGetErrorName) name;
    CHECK(cudaGetDriverEntryPointByVersion("cuGetErrorName", (void **)&name, 12000,
                                           cudaEnableDefault, &status));
    const char *text = nullptr;
    name(CUDA_ERROR_ILLEGAL_ADDRESS, &text);
    printf("status %d: %s\n", status, text);

    decltype(&cuCtxGetDevice) device;
    CHECK(cudaGetDriverEntryPointByVersion("cuCtxGetDevice", (void **)&device, 12000,
                                           cudaEnableDefault, &status));
    CUdevice number = -1;
    CUresult result = device(&number);
    printf("result %d device %d\n", result, number);

    decltype(&cuMemsetD32_v2) set;
    CHECK(cudaGetDriverEntryPointByVersion("cuMemsetD32", (void **)&set, 12000, cudaEnableDefault,
                                           &status));
    int *x, host[4];
    CHECK(cudaMalloc(&x, sizeof(host)));
    set((CUdeviceptr)x, 77, 4);
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    printf("set %d %d\n", host[0], host[3]);

    void *missing = &missing;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &missing, 12000,
                                                         cudaEnableDefault, &status);
    printf("missing: %s, status %d, null %d\n", cudaGetErrorName(error), status, !missing);
    int runtime, driver;
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    printf("versions of CUDA 13 or later: %d %d\n", runtime >= 13000, driver >= 13000);
    CHECK(cudaFree(x));
    return 0;
}
