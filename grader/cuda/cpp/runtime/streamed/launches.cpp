// Launches of kernels.
#include "runtime/runtime.h"

#include <cstddef>
#include <vector>

namespace {

static_assert(offsetof(cudaLaunchConfig_t, stream) == offsetof(CUlaunchConfig, hStream));

cudaError_t launch(const void *symbol, const cudaLaunchConfig_t &configuration, void **arguments)
{
    return call(cuLaunchKernelEx, &configuration, symbol, arguments, nullptr);
}

} // namespace

API cudaLaunchCooperativeKernel(const void *symbol, dim3 grid, dim3 block, void **arguments,
                                size_t dynamic_shared, cudaStream_t stream)
{
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    return launch(symbol, {grid, block, dynamic_shared, stream, &cooperative, 1}, arguments);
}

// --- launches of nvcc's host code: <<<...>>> pushes a configuration, the kernel's stub pops it --

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define STUB_LAUNCH __cudaLaunchKernel_ptsz
#else
#define STUB_LAUNCH __cudaLaunchKernel

namespace {

thread_local std::vector<cudaLaunchConfig_t> pushed;

} // namespace

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared,
                                                cudaStream_t stream)
{
    pushed.push_back({grid, block, dynamic_shared, stream, nullptr, 0});
    return 0;
}

API __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared, void *stream)
{
    if (pushed.empty())
        return keep(cudaErrorMissingConfiguration);
    const cudaLaunchConfig_t &top = pushed.back();
    *grid = top.gridDim;
    *block = top.blockDim;
    *dynamic_shared = top.dynamicSmemBytes;
    *static_cast<cudaStream_t *>(stream) = top.stream;
    pushed.pop_back();
    return cudaSuccess;
}
#endif

API STUB_LAUNCH(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared,
                cudaStream_t stream)
{
    return launch(kernel, {grid, block, dynamic_shared, stream, nullptr, 0}, arguments);
}
