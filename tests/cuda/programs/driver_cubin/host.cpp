// Loads kernels.cubin and kernels.ptx with the driver API and runs their kernels.
#include "../driver.h"

void run(const char *file)
{
    CUmodule module;
    CHECK(cuModuleLoad(&module, file));
    CUfunction axpy, reverse;
    CHECK(cuModuleGetFunction(&axpy, module, "axpy"));
    CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
    CUdeviceptr bias;
    CHECK(cuModuleGetGlobal(&bias, nullptr, module, "bias"));
    float shift = 0.5f, a = 2;
    CHECK(cuMemcpyHtoD(bias, &shift, sizeof(shift)));

    int n = 200;
    float x[200], y[200];
    for (int i = 0; i < n; ++i)
        x[i] = i, y[i] = 1000;
    CUdeviceptr dx, dy;
    CHECK(cuMemAlloc(&dx, sizeof(x)));
    CHECK(cuMemAlloc(&dy, sizeof(y)));
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemcpyHtoDAsync(dx, x, sizeof(x), stream));
    CHECK(cuMemcpyHtoDAsync(dy, y, sizeof(y), stream));
    void *first[] = {&dy, &dx, &a, &n}, *second[] = {&dy, &n};
    CHECK(cuLaunchKernel(axpy, 2, 1, 1, 128, 1, 1, 0, stream, first, nullptr));
    CHECK(cuLaunchKernel(reverse, 1, 1, 1, n, 1, 1, sizeof(y), stream, second, nullptr));
    CHECK(cuMemcpyDtoHAsync(y, dy, sizeof(y), stream));
    CHECK(cuStreamSynchronize(stream));
    printf("%s: %g %g %g\n", file, y[0], y[1], y[199]);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(dx));
    CHECK(cuMemFree(dy));
    CHECK(cuModuleUnload(module));
}

int main()
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxPushCurrent(context));
    run("kernels.cubin");
    run("kernels.ptx");
    CUmodule module;
    printf("no file: %s\n", name_of(cuModuleLoad(&module, "nothing.cubin")));
    CHECK(cuCtxPopCurrent(&context));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
