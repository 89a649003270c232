// Libraries and kernels as objects: cudaLibraryLoadData from PTX, cudaLibraryGetKernel and globals.
#include "check.h"

const char *PTX = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .u32 start = 5;
.visible .entry number(.param .u64 data)
{
    .reg .b32 %r<4>;
    .reg .b64 %a<3>;
    ld.param.u64 %a0, [data];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a0, %a0, %a1;
    ld.global.u32 %r1, [start];
    add.u32 %r2, %r0, %r1;
    st.global.u32 [%a0], %r2;
    ret;
}
)";

int main()
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    unsigned count = 0;
    CHECK(cudaLibraryLoadData(&library, PTX, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CHECK(cudaLibraryGetKernelCount(&count, library));
    CHECK(cudaLibraryGetKernel(&kernel, library, "number"));
    int *x, host[8];
    CHECK(cudaMalloc(&x, sizeof(host)));
    void *arguments[] = {&x}, *start;
    size_t bytes;
    CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(8), arguments, 0, 0));
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    printf("kernels %u: %d %d\n", count, host[0], host[7]);
    CHECK(cudaLibraryGetGlobal(&start, &bytes, library, "start"));
    CHECK(cudaMemset(start, 0, bytes));
    CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(8), arguments, 0, 0));
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    printf("bytes %zu: %d %d\n", bytes, host[0], host[7]);
    CHECK(cudaLibraryUnload(library));
    CHECK(cudaFree(x));
    return 0;
}
