// Functions about devices: count, current, flags, limits, properties that agree with attributes.
#include "check.h"
#include <cstring>

int main()
{
    int count, device, value;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&device));
    printf("devices %d, current %d\n", count > 0, device);
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    printf("name %d, SMs agree %d\n", strlen(p.name) > 0, value == p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrL2CacheSize, 0));
    printf("L2 agrees %d\n", value == p.l2CacheSize);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    printf("clock %d\n", value > 500000);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrGlobalMemoryBusWidth, 0));
    printf("bus agrees %d\n", value == p.memoryBusWidth);
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    printf("memory %d %d\n", free_bytes <= total, total <= p.totalGlobalMem);

    cudaDeviceProp wanted = {};
    wanted.major = 9;
    CHECK(cudaChooseDevice(&device, &wanted));
    printf("chosen %d\n", device);
    unsigned flags;
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    CHECK(cudaGetDeviceFlags(&flags));
    printf("flags %u\n", flags & cudaDeviceScheduleMask);
    char text[32];
    CHECK(cudaDeviceGetPCIBusId(text, sizeof(text), 0));
    CHECK(cudaDeviceGetByPCIBusId(&device, text));
    printf("by bus %d\n", device);
    size_t bytes;
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    printf("stack %zu\n", bytes);
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    printf("stack %zu\n", bytes);
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap %zu\n", bytes);
    cudaFuncCache cache;
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    CHECK(cudaDeviceGetCacheConfig(&cache));
    printf("cache %d\n", cache);
    return 0;
}
