// Names that CUDA 13 removed, so that programs of older toolkits compile without a change. Each is
// defined by its successor (CUDA 13 Release Notes, "Deprecated and Removed Features").
#pragma once

#if CUDART_VERSION >= 13000

static inline cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

static inline cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

#ifdef __cplusplus
static inline cudaMemLocation grader_location(int device)
{
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

static inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device,
                                               cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync(memory, bytes, grader_location(device), 0, stream);
}

static inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice,
                                        int device)
{
    return cudaMemAdvise(memory, bytes, advice, grader_location(device));
}

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                            cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}

namespace thrust {
template <typename Argument, typename Result> struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};
template <typename First, typename Second, typename Result> struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};
} // namespace thrust
#endif

#endif
