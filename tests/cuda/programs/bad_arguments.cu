// Calls with bad arguments: handles, pointers, sizes, symbols, flags.
#include "check.h"

#define SHOW(call) printf("%s: %s\n", #call, (cudaGetLastError(), cudaGetErrorName(call)))

int main()
{
    int local = 0, *x, *host;
    size_t bytes;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaPointerAttributes attributes;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaChannelFormatDesc odd = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
    CHECK(cudaMalloc(&x, 64));
    CHECK(cudaMallocHost(&host, 64));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaMallocManaged((void **)&x, 0));
    SHOW(cudaMemset(nullptr, 0, 4));
    SHOW(cudaMemset(x, 0, 0));
    SHOW(cudaFreeHost(&local));
    SHOW(cudaFreeHost(nullptr));
    SHOW(cudaHostGetDevicePointer((void **)&x, &local, 0));
    SHOW(cudaStreamCreate(nullptr));
    SHOW(cudaEventCreate(nullptr));
    SHOW(cudaEventCreateWithFlags(&event, 0xFF));
    SHOW(cudaStreamCreateWithFlags(&stream, 0xFF));
    SHOW(cudaPointerGetAttributes(nullptr, x));
    SHOW(cudaPointerGetAttributes(&attributes, nullptr));
    SHOW(cudaMallocArray(&array, &odd, 4, 4));
    SHOW(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    SHOW(cudaDeviceSetLimit((cudaLimit)77, 1));
    SHOW(cudaDeviceGetLimit(&bytes, (cudaLimit)77));
    SHOW(cudaGetSymbolSize(&bytes, &local));
    SHOW(cudaMemcpy2D(x, 16, host, 16, 32, 2, cudaMemcpyHostToDevice));
    SHOW(cudaDeviceEnablePeerAccess(0, 0));
    SHOW(cudaStreamEndCapture(cudaStreamPerThread, nullptr));
    printf("end: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
