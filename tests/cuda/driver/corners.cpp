// Corners of libcuda that the programs do not reach: registered memory on the stack, contexts,
// functions by version, captures, errors of copies.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

static int failures = 0;

#define EXPECT(status, expression)                                                                 \
    if (CUresult found = (expression); found != (status)) {                                        \
        printf("line %d: %s gives %d\n", __LINE__, #expression, found);                            \
        ++failures;                                                                                \
    }
#define OK(expression) EXPECT(CUDA_SUCCESS, expression)
#define HOLDS(condition) EXPECT(CUDA_SUCCESS, (condition) ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN)

static const char *const image = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 place, .param .u32 value)
{
    .reg .u64 address;
    .reg .u32 sum, summand;
    ld.param.u64 address, [place];
    ld.param.u32 summand, [value];
    ld.global.u32 sum, [address];
    add.u32 sum, sum, summand;
    st.global.u32 [address], sum;
    ret;
}
)";

static CUfunction add;

static CUresult launch(void *place, unsigned value, CUstream stream = nullptr)
{
    void *parameters[] = {&place, &value};
    return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}

// The kernel and the program see one memory, though it is on the stack.
static void check_registered()
{
    int words[3000] = {};
    CUdeviceptr address = 0;
    words[5] = 1;
    OK(cuMemHostRegister(words, sizeof words, 0));
    EXPECT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(words, 8, 0));
    OK(cuMemHostGetDevicePointer(&address, words, 0));
    OK(launch(reinterpret_cast<int *>(address) + 5, 10));
    OK(launch(words + 5, 100)); // the program's own address
    OK(cuCtxSynchronize());
    HOLDS(words[5] == 111);
    OK(cuMemHostUnregister(words));
    HOLDS(words[5] == 111);
    EXPECT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(words));
}

static void check_copies()
{
    CUdeviceptr memory;
    char host[64] = {};
    OK(cuMemAlloc(&memory, sizeof host));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, host, sizeof host + 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory + 60, host, 8));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, reinterpret_cast<CUdeviceptr>(host), 8));
    OK(cuMemsetD16(memory, 0x4142, 32));
    OK(cuMemcpyDtoH(host, memory, sizeof host));
    HOLDS(host[0] == 0x42 && host[63] == 0x41);
    OK(cuMemFree(memory));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, memory, 1));
}

static void check_contexts()
{
    CUcontext first, second, current;
    OK(cuCtxGetCurrent(&first));
    OK(cuCtxCreate(&second, nullptr, 0, 0));
    OK(cuCtxGetCurrent(&current));
    HOLDS(current == second);
    EXPECT(CUDA_ERROR_INVALID_HANDLE, launch(nullptr, 1)); // a kernel of the other context
    OK(cuCtxDestroy(second));
    OK(cuCtxGetCurrent(&current));
    HOLDS(current == first);
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(second));
}

// A program of an older toolkit gets the form of a function that it knows.
static void check_versions()
{
    void *old, *today, *missing;
    CUdriverProcAddressQueryResult result;
    OK(cuGetProcAddress("cuCtxCreate", &old, 11000, 0, nullptr));
    OK(cuGetProcAddress("cuCtxCreate", &today, 13000, 0, nullptr));
    HOLDS(old != today && today == reinterpret_cast<void *>(&cuCtxCreate));
    cuGetProcAddress("cuNoSuchFunction", &missing, 13000, 0, &result);
    HOLDS(!missing && result == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void check_captures(int *word)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec executable;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    *word = 0;
    OK(launch(word, 1, stream));
    OK(launch(word, 2, stream));
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(launch(word, 1, stream));
    OK(launch(word, 2, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cuGraphLaunch(executable, stream));
    OK(cuStreamSynchronize(stream));
    HOLDS(*word == 9);
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
}

static void check_fork()
{
    int count, status;
    if (fork() == 0)
        _exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 7 : 1);
    wait(&status);
    HOLDS(WEXITSTATUS(status) == 7);
}

int main()
{
    CUcontext context;
    CUmodule module;
    CUdeviceptr word;
    EXPECT(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&context));
    OK(cuInit(0));
    EXPECT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&word, 4));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuMemAllocManaged(&word, 4, CU_MEM_ATTACH_GLOBAL));
    check_registered();
    check_copies();
    check_contexts();
    check_versions();
    check_captures(reinterpret_cast<int *>(word));
    check_fork();
    OK(launch(nullptr, 1));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&word, 4));
    OK(cuDevicePrimaryCtxReset(0));
    EXPECT(CUDA_ERROR_DEVICE_UNAVAILABLE, cuDevicePrimaryCtxRetain(&context, 0));
    return failures;
}
