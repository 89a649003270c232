// cuGetProcAddress: functions by name and version, also after loading libcuda.so.1 by hand.
// nvcc: -lcuda -ldl
#include "driver.h"
#include <dlfcn.h>

int main()
{
    CHECK(cuInit(0));
    CUdriverProcAddressQueryResult status;
    decltype(&cuDeviceGetCount) count_devices;
    CHECK(cuGetProcAddress("cuDeviceGetCount", (void **)&count_devices, 12000,
                           CU_GET_PROC_ADDRESS_DEFAULT, &status));
    int count = 0;
    CHECK(count_devices(&count));
    printf("found %d, devices %d\n", status == CU_GET_PROC_ADDRESS_SUCCESS, count > 0);

    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    auto resolve = (decltype(&cuGetProcAddress))dlsym(library, "cuGetProcAddress_v2");
    decltype(&cuMemAlloc) allocate;
    decltype(&cuMemFree) release;
    decltype(&cuDevicePrimaryCtxRetain) retain;
    decltype(&cuCtxSetCurrent) set_current;
    CHECK(resolve("cuMemAlloc", (void **)&allocate, 12000, 0, &status));
    CHECK(resolve("cuMemFree", (void **)&release, 12000, 0, &status));
    CHECK(resolve("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, &status));
    CHECK(resolve("cuCtxSetCurrent", (void **)&set_current, 12000, 0, &status));
    CUcontext context;
    CUdeviceptr memory = 0;
    printf("without a context: %s\n", name_of(allocate(&memory, 100)));
    CHECK(retain(&context, 0));
    CHECK(set_current(context));
    CHECK(allocate(&memory, 100));
    printf("memory %d\n", memory != 0);
    CHECK(release(memory));

    void *nothing = &nothing;
    CUresult result = cuGetProcAddress("cuNoSuchFunction", &nothing, 12000, 0, &status);
    printf("missing: %s, not found %d\n", name_of(result),
           status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    int version;
    CHECK(cuDriverGetVersion(&version));
    printf("version of CUDA 13 or later: %d\n", version >= 13000);
    CHECK(cuDevicePrimaryCtxRelease(0));
    return 0;
}
