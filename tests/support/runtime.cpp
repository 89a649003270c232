// A CUDA runtime without a GPU, for host programs: device memory is the processor's, and a launch calls one of the functions below,
// whichever FAKE_KERNEL names. FAKE_ERROR is added to every element that it computes; FAKE_SKIP leaves the last element unwritten,
// FAKE_SPOIL writes to the input. Of memory there are 16 MiB a buffer.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static float number_of(const char *name) { return std::getenv(name) ? std::strtof(std::getenv(name), nullptr) : 0.0f; }

static void transpose(void **arguments)
{
    float *out = *static_cast<float **>(arguments[0]), *in = *static_cast<float **>(arguments[1]);
    const int rows = *static_cast<int *>(arguments[2]), cols = *static_cast<int *>(arguments[3]);
    for (int i = 0; i < rows * cols - (number_of("FAKE_SKIP") > 0); i++) out[i] = in[i % rows * cols + i / rows] + number_of("FAKE_ERROR");
    if (number_of("FAKE_SPOIL") > 0) in[0] += 1.0f;
}

static void multiply(void **arguments)
{
    float *A = *static_cast<float **>(arguments[0]), *B = *static_cast<float **>(arguments[1]), *C = *static_cast<float **>(arguments[2]);
    const int M = *static_cast<int *>(arguments[3]), N = *static_cast<int *>(arguments[4]), K = *static_cast<int *>(arguments[5]);
    const float error = number_of("FAKE_ERROR");
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++) {
            double sum = 0.0;
            for (int k = 0; k < K; k++) sum += double(A[row * K + k]) * B[k * N + col];
            C[row * N + col] = float(sum + error);
        }
}

extern "C" {

cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void **arguments, size_t, cudaStream_t)
{
    std::fprintf(stderr, "launch %u %u %u, %u %u %u\n", grid.x, grid.y, grid.z, block.x, block.y, block.z);
    const std::string kernel = std::getenv("FAKE_KERNEL");
    if (kernel == "transpose") transpose(arguments);
    if (kernel == "multiply") multiply(arguments);
    return cudaSuccess;
}

static struct { dim3 grid, block; size_t shared; } configuration;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *)
{
    configuration = {grid, block, shared};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *)
{
    *grid = configuration.grid, *block = configuration.block, *shared = configuration.shared;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *, const void *) { return cudaSuccess; }
void **__cudaRegisterFatBinary(void *) { return nullptr; }
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *) {}

cudaError_t cudaMalloc(void **address, size_t size)
{
    *address = std::malloc(size);
    return size > (size_t(1) << 24) ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFree(void *address) { std::free(address); return cudaSuccess; }
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind) { std::memcpy(to, from, size); return cudaSuccess; }
cudaError_t cudaMemset(void *to, int byte, size_t size) { std::memset(to, byte, size); return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) { *value = 1 << 20; return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) { *milliseconds = 0.5f; return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "as good as a GPU's error"; }

}
