// Virtual memory of the driver: reserve, create, map, set access; a mapping grows.
// nvcc: -lcuda
#include "driver.h"
#include <cuda_runtime.h>

__global__ void fill(int *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = i;
}

int main()
{
    cudaFree(0);
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    size_t size;
    CHECK(cuMemGetAllocationGranularity(&size, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr address;
    CHECK(cuMemAddressReserve(&address, 2 * size, 0, 0, 0));
    CUmemGenericAllocationHandle parts[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(cuMemCreate(&parts[i], size, &properties, 0));
        CHECK(cuMemMap(address + i * size, size, 0, parts[i], 0));
        CHECK(cuMemSetAccess(address + i * size, size, &access, 1));
    }
    int n = 2 * size / sizeof(int), host[2];
    fill<<<4, 128>>>((int *)address, n > 100000 ? 100000 : n);
    CHECK(cuMemcpyDtoH(host, address + 50000 * sizeof(int), sizeof(host)));
    printf("%d %d\n", host[0], host[1]);
    CHECK(cuMemUnmap(address, 2 * size));
    for (auto part : parts)
        CHECK(cuMemRelease(part));
    CHECK(cuMemAddressFree(address, 2 * size));
    return 0;
}
