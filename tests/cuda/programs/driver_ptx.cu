// The driver API by hand: a context, a module from PTX text, its globals, launches and a log.
// nvcc: -lcuda
#include "driver.h"
#include <cstring>

const char *PTX = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 data, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %a<4>;
    ld.param.u64 %a0, [data];
    ld.param.u32 %r0, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    setp.ge.u32 %p, %r4, %r0;
    @%p ret;
    mul.wide.u32 %a1, %r4, 4;
    add.u64 %a0, %a0, %a1;
    ld.global.u32 %r5, [%a0];
    ld.global.u32 %r6, [factor];
    mul.lo.u32 %r5, %r5, %r6;
    st.global.u32 [%a0], %r5;
    ret;
}
)";

int main()
{
    CHECK(cuInit(0));
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction scale;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, PTX));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    printf("missing: %s\n", name_of(cuModuleGetFunction(&scale, module, "nothing")));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));

    int count = 300, host[300];
    for (int i = 0; i < count; ++i)
        host[i] = i;
    CUdeviceptr data, factor;
    size_t bytes;
    CHECK(cuMemAlloc(&data, sizeof(host)));
    CHECK(cuMemcpyHtoD(data, host, sizeof(host)));
    void *arguments[] = {&data, &count};
    CHECK(cuLaunchKernel(scale, 3, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
    CHECK(cuMemsetD32(factor, 10, 1));
    char packed[12];
    memcpy(packed, &data, 8);
    memcpy(packed + 8, &count, 4);
    size_t size = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(scale, 3, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(host, data, sizeof(host)));
    printf("factor of %zu bytes, %d %d %d\n", bytes, host[1], host[2], host[299]);

    int value;
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    printf("threads %d\n", value);
    printf("bad block: %s\n", name_of(cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, nullptr,
                                                     arguments, nullptr)));
    char log[4000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    CUmodule broken;
    printf("broken PTX: %s, log %d\n",
           name_of(cuModuleLoadDataEx(&broken, ".version 7.8\n.target sm_75\nnonsense", 2, options,
                                      values)),
           strlen(log) > 0);
    CHECK(cuMemFree(data));
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
