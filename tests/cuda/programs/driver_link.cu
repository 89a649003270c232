// cuLink: two PTX texts, one calls a function of the other, become a cubin that is loaded.
// nvcc: -lcuda
#include "driver.h"
#include <cstring>

const char *CALLER = R"(
.version 7.8
.target sm_75
.address_size 64
.extern .func (.param .b32 result) cube (.param .b32 x);
.visible .entry cubes(.param .u64 data)
{
    .reg .b32 %r<4>;
    .reg .b64 %a<3>;
    ld.param.u64 %a0, [data];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a0, %a0, %a1;
    {
        .param .b32 in;
        .param .b32 out;
        st.param.b32 [in], %r0;
        call.uni (out), cube, (in);
        ld.param.b32 %r1, [out];
    }
    st.global.u32 [%a0], %r1;
    ret;
}
)";

const char *CALLEE = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .func (.param .b32 result) cube (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r0, [x];
    mul.lo.u32 %r1, %r0, %r0;
    mul.lo.u32 %r1, %r1, %r0;
    st.param.b32 [result], %r1;
    ret;
}
)";

void add(CUlinkState state, const char *text, const char *name)
{
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, name, 0, nullptr,
                        nullptr));
}

int main()
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    CUlinkState state;
    void *cubin;
    size_t bytes;
    CHECK(cuLinkCreate(0, nullptr, nullptr, &state));
    add(state, CALLER, "caller");
    add(state, CALLEE, "callee");
    CHECK(cuLinkComplete(state, &cubin, &bytes));
    printf("cubin: %d\n", bytes > 100);
    CUmodule module;
    CHECK(cuModuleLoadData(&module, cubin));
    CHECK(cuLinkDestroy(state));

    CUfunction cubes;
    CHECK(cuModuleGetFunction(&cubes, module, "cubes"));
    int host[32];
    CUdeviceptr data;
    CHECK(cuMemAlloc(&data, sizeof(host)));
    void *arguments[] = {&data};
    CHECK(cuLaunchKernel(cubes, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    CHECK(cuMemcpyDtoH(host, data, sizeof(host)));
    printf("%d %d %d\n", host[1], host[5], host[31]);
    CHECK(cuMemFree(data));
    CHECK(cuModuleUnload(module));

    CHECK(cuLinkCreate(0, nullptr, nullptr, &state));
    add(state, CALLER, "caller");
    CUresult result = cuLinkComplete(state, &cubin, &bytes);
    printf("unresolved: %d\n", result != CUDA_SUCCESS);
    CHECK(cuLinkDestroy(state));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
