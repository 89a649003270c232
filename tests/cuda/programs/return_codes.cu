// Return codes of corner cases, and the last error after them.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#define SHOW(call)                                                                                 \
    do {                                                                                           \
        cudaError_t e_ = (call);                                                                   \
        cudaError_t p_ = cudaPeekAtLastError();                                                    \
        cudaError_t l_ = cudaGetLastError();                                                       \
        printf("%-70s %d peek %d last %d again %d\n", #call, (int)e_, (int)p_, (int)l_,            \
               (int)cudaGetLastError());                                                           \
    } while (0)
#define LAUNCH(...)                                                                                \
    do {                                                                                           \
        __VA_ARGS__;                                                                               \
        cudaError_t p_ = cudaPeekAtLastError();                                                    \
        cudaError_t l_ = cudaGetLastError();                                                       \
        printf("%-70s peek %d last %d sync %d\n", #__VA_ARGS__, (int)p_, (int)l_,                  \
               (int)cudaDeviceSynchronize());                                                      \
        cudaGetLastError();                                                                        \
    } while (0)
__global__ void plain(int *p)
{
    if (p)
        *p = 1;
}
__global__ void __launch_bounds__(256) bounded(int *p)
{
    if (p)
        *p = 1;
}
__global__ void spin(long long n)
{
    long long t = clock64();
    while (clock64() - t < n)
        ;
}
__device__ int symbol[4];
__constant__ int constant[4];
__managed__ int managed[4];
__global__ void dynamic(int n)
{
    extern __shared__ int s[];
    s[threadIdx.x] = n;
}
int not_symbol;
void not_kernel() {}
void attributes(const char *name, const void *p)
{
    cudaPointerAttributes a;
    memset(&a, 0x55, sizeof a);
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    printf("attributes %-10s %d: type %d device %d dev %s host %s\n", name, e, a.type, a.device,
           a.devicePointer == p ? "same"
           : a.devicePointer    ? "other"
                                : "null",
           a.hostPointer == p ? "same"
           : a.hostPointer    ? "other"
                              : "null");
    cudaGetLastError();
}
alignas(4096) int host[1024];
int main()
{
    setvbuf(stdout, 0, _IOLBF, 0);
    int *d = 0, *h = 0, *m = 0;
    void *v = (void *)1;
    size_t z;
    SHOW(cudaPeekAtLastError());
    SHOW(cudaSetDevice(99));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaFree(0));
    SHOW(cudaMalloc(&v, 0));
    printf("%p\n", v);
    SHOW(cudaMalloc(0, 16));
    SHOW(cudaMalloc(&v, (size_t)1 << 50));
    SHOW(cudaMalloc(&d, 4096));
    SHOW(cudaMallocHost(&h, 4096));
    SHOW(cudaMallocManaged(&m, 4096));
    SHOW(cudaMallocManaged(&v, 0));
    SHOW(cudaMallocHost(&v, 0));
    printf("%p\n", v);
    SHOW(cudaFree(host));
    SHOW(cudaFree((char *)d + 4));
    SHOW(cudaFree(h));
    SHOW(cudaFreeHost(d));
    SHOW(cudaFreeHost(0));
    SHOW(cudaFreeHost(host));
    SHOW(cudaFreeArray(0));
    v = 0;
    SHOW(cudaMalloc(&v, 16));
    SHOW(cudaFree(v));
    SHOW(cudaFree(v));
    h = 0;
    SHOW(cudaMallocHost(&h, 4096));
    SHOW(cudaMemcpy(d, host, 4096, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(d, host, 4096, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy(host, d, 4096, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(d, host, 4096, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(host, d, 4096, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy(d, d, 64, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(d, host, 4, (cudaMemcpyKind)7));
    SHOW(cudaMemcpy(d, 0, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(0, host, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(d, host, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(0, 0, 0, cudaMemcpyDefault));
    SHOW(cudaMemcpy(d, host, 4100, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(host, host + 8, 8, cudaMemcpyDefault));
    SHOW(cudaMemcpyAsync(d, host, 4096, cudaMemcpyDeviceToHost));
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMemset(d, 1, 4096));
    SHOW(cudaMemset(d, 1, 4100));
    SHOW(cudaMemset(host, 1, 4));
    SHOW(cudaMemset(0, 1, 4));
    SHOW(cudaMemset(d, 1, 0));
    SHOW(cudaMemset(h, 1, 4));
    SHOW(cudaMemset(m, 1, 4));
    SHOW(cudaMemset2D(d, 32, 1, 64, 2));
    SHOW(cudaMemcpy2D(d, 32, host, 64, 64, 2, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(d, 64, host, 64, 64, 0, cudaMemcpyHostToDevice));
    LAUNCH(plain<<<1, 1025>>>(0));
    LAUNCH(plain<<<0, 1>>>(0));
    LAUNCH(plain<<<1, 0>>>(0));
    LAUNCH(plain<<<dim3(1, 65536), 1>>>(0));
    LAUNCH(plain<<<1, dim3(1, 1, 65)>>>(0));
    LAUNCH(dynamic<<<1, 32, 50000>>>(1));
    LAUNCH(dynamic<<<1, 32, 300000>>>(1));
    LAUNCH(bounded<<<1, 512>>>(0));
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    LAUNCH(dynamic<<<1, 32, 100000>>>(1));
    SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
    SHOW(cudaFuncSetAttribute(dynamic, (cudaFuncAttribute)99, 1));
    SHOW(cudaFuncSetAttribute((void *)not_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    void *args[1] = {&v};
    v = 0;
    SHOW(cudaLaunchKernel((void *)not_kernel, 1, 1, args, 0, 0));
    SHOW(cudaLaunchKernel((void *)0, 1, 1, args, 0, 0));
    SHOW(cudaLaunchCooperativeKernel((void *)plain, 100000, 1024, args, 0, 0));
    SHOW(cudaLaunchKernel((void *)plain, 1, 1, 0, 0, 0));
    SHOW(cudaMemcpyToSymbol(symbol, host, 16));
    SHOW(cudaMemcpyToSymbol(symbol, host, 17));
    SHOW(cudaMemcpyToSymbol(symbol, host, 4, 16));
    SHOW(cudaMemcpyToSymbol(not_symbol, host, 4));
    SHOW(cudaMemcpyToSymbol(symbol, host, 4, 0, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpyFromSymbol(host, constant, 16));
    SHOW(cudaGetSymbolAddress(&v, not_symbol));
    SHOW(cudaGetSymbolSize(&z, symbol));
    SHOW(cudaGetSymbolAddress(&v, managed));
    printf("%d\n", v == (void *)managed);
    attributes("device", d);
    attributes("inside", d + 10);
    attributes("pinned", h);
    attributes("managed", m);
    attributes("malloc", host);
    attributes("null", 0);
    attributes("wild", (void *)0x10);
    cudaEvent_t a, b, c;
    float ms = -1;
    SHOW(cudaEventCreate(&a));
    SHOW(cudaEventCreate(&b));
    SHOW(cudaEventCreateWithFlags(&c, cudaEventDisableTiming));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventQuery(a));
    SHOW(cudaEventSynchronize(a));
    SHOW(cudaEventRecord(a));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaEventRecord(c));
    SHOW(cudaEventSynchronize(c));
    SHOW(cudaEventElapsedTime(&ms, a, c));
    SHOW(cudaEventElapsedTime(0, a, a));
    spin<<<1, 1>>>(2000000);
    SHOW(cudaEventRecord(b));
    SHOW(cudaEventQuery(b));
    SHOW(cudaEventElapsedTime(&ms, a, b));
    SHOW(cudaStreamQuery(0));
    SHOW(cudaEventSynchronize(b));
    SHOW(cudaStreamQuery(0));
    SHOW(cudaEventDestroy(a));
    SHOW(cudaEventDestroy(0));
    SHOW(cudaStreamDestroy(0));
    SHOW(cudaEventCreateWithFlags(&a, 0x100));
    SHOW(cudaEventRecord(0));
    SHOW(cudaStreamCreateWithFlags((cudaStream_t *)&v, 77));
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SHOW(cudaDeviceGetLimit(&z, cudaLimitStackSize));
    printf("%zu\n", z);
    SHOW(cudaDeviceGetLimit(&z, (cudaLimit)77));
    cudaGetLastError();
    SHOW(cudaHostRegister(host, 4096, 0));
    SHOW(cudaHostRegister(host, 4096, 0));
    SHOW(cudaHostGetDevicePointer(&v, host, 0));
    SHOW(cudaHostUnregister(host));
    SHOW(cudaHostUnregister(host));
    SHOW(cudaHostGetDevicePointer(&v, d, 0));
    unsigned f = 9;
    SHOW(cudaHostGetFlags(&f, h));
    printf("%u\n", f);
    SHOW(cudaGetDeviceFlags(&f));
    printf("%u\n", f);
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    int can = 9;
    SHOW(cudaDeviceCanAccessPeer(&can, 0, 0));
    printf("%d\n", can);
    SHOW(cudaDeviceDisablePeerAccess(0));
    SHOW(cudaSetDeviceFlags(0x55));
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SHOW(cudaDeviceGetAttribute(&can, (cudaDeviceAttr)9999, 0));
    SHOW(cudaDeviceGetAttribute(&can, cudaDevAttrWarpSize, 9));
    SHOW(cudaMallocPitch(&v, &z, 100, 10));
    printf("%zu\n", z);
    SHOW(cudaMallocPitch(&v, &z, 600, 10));
    printf("%zu\n", z);
    SHOW(cudaMallocPitch(&v, &z, 0, 10));
    cudaPitchedPtr pp;
    SHOW(cudaMalloc3D(&pp, make_cudaExtent(100, 3, 2)));
    printf("%zu %zu %zu\n", pp.pitch, pp.xsize, pp.ysize);
    cudaFuncAttributes fa;
    SHOW(cudaFuncGetAttributes(&fa, bounded));
    SHOW(cudaFuncGetAttributes(&fa, not_kernel));
    const char *name;
    SHOW(cudaFuncGetName(&name, (void *)plain));
    printf("%s\n", name);
    int n = -1;
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 128, 0));
    printf("%d\n", n);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 0, 0));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 2000, 0));
    int g;
    SHOW(cudaOccupancyMaxPotentialBlockSize(&g, &n, plain));
    printf("%d %d\n", g, n);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, plain, 128, 300000));
    printf("%d\n", n);
    cudaStream_t s;
    cudaGraph_t graph;
    SHOW(cudaStreamCreate(&s));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    plain<<<1, 1, 0, s>>>(d);
    SHOW(cudaMalloc(&v, 16));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamEndCapture(s, &graph));
    SHOW(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    int lo, hi;
    SHOW(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    printf("%d %d\n", lo, hi);
    char bus[32];
    SHOW(cudaDeviceGetPCIBusId(bus, 32, 0));
    size_t total;
    SHOW(cudaMemGetInfo(&z, &total));
    cudaMemPool_t pool;
    SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
    SHOW(cudaMallocAsync(&v, 100, s));
    SHOW(cudaFreeAsync(v, s));
    SHOW(cudaFreeAsync(v, s));
    SHOW(cudaMallocAsync(&v, 0, s));
    SHOW(cudaStreamSynchronize(s));
    SHOW(cudaDeviceReset());
    SHOW(cudaFree(d));
}
