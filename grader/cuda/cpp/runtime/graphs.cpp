// Graphs: nodes of all kinds, instantiation and update. Handles are the driver's.
#include "runtime/descriptors.h"

#include <cstring>

namespace {

// Parameters of any node: kernels and copies differ between both libraries, all others are equal.
cudaError_t translate(const cudaGraphNodeParams &from, CUgraphNodeParams *to)
{
    memcpy(to, &from, sizeof *to);
    if (from.type == cudaGraphNodeTypeKernel) {
        cudaKernelNodeParams kernel = {from.kernel.func,         from.kernel.gridDim,
                                       from.kernel.blockDim,     from.kernel.sharedMemBytes,
                                       from.kernel.kernelParams, from.kernel.extra};
        KernelNode node = kernel_node(&kernel);
        memset(to->reserved1, 0, sizeof to->reserved1);
        memcpy(&to->kernel, node, sizeof node.value);
        return node.error;
    }
    if (from.type == cudaGraphNodeTypeMemcpy) {
        to->memcpy.copyCtx = current_context();
        Box copy = box(&from.memcpy.copyParams);
        to->memcpy.copyParams = copy.value;
        return copy.error;
    }
    if (from.type == cudaGraphNodeTypeMemset)
        to->memset.ctx = current_context();
    return cudaSuccess;
}

static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));

template <class Use> cudaError_t with_node(cudaGraphNodeParams *parameters, Use use)
{
    CUgraphNodeParams translated;
    if (cudaError_t error = enter())
        return keep(error);
    if (!parameters)
        return keep(cudaErrorInvalidValue);
    if (cudaError_t error = translate(*parameters, &translated))
        return keep(error);
    if (CUresult status = use(&translated))
        return keep(status);
    if (parameters->type == cudaGraphNodeTypeMemAlloc)
        parameters->alloc.dptr = reinterpret_cast<void *>(translated.alloc.dptr);
    return cudaSuccess;
}

} // namespace

// --- nodes --------------------------------------------------------------------------------------

API cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                     const cudaGraphEdgeData *edges, size_t count, cudaGraphNodeParams *parameters)
{
    return with_node(parameters, [=](CUgraphNodeParams *translated) {
        return cuGraphAddNode(node, graph, dependencies, (const CUgraphEdgeData *)edges, count,
                              translated);
    });
}

API cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *parameters)
{
    return with_node(parameters, [=](CUgraphNodeParams *translated) {
        return cuGraphNodeSetParams(node, translated);
    });
}

API cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                               cudaGraphNodeParams *parameters)
{
    return with_node(parameters, [=](CUgraphNodeParams *translated) {
        return cuGraphExecNodeSetParams(executable, node, translated);
    });
}

// --- kernels and copies --------------------------------------------------------------------------

KernelNode kernel_node(const cudaKernelNodeParams *from)
{
    CUfunction function = nullptr;
    cudaError_t error = from ? find_function(from->func, &function) : cudaErrorInvalidValue;
    if (error)
        return {error, {}};
    return {cudaSuccess,
            {function, from->gridDim.x, from->gridDim.y, from->gridDim.z, from->blockDim.x,
             from->blockDim.y, from->blockDim.z, from->sharedMemBytes, from->kernelParams,
             from->extra, nullptr, nullptr}};
}

API cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *parameters)
{
    CUDA_KERNEL_NODE_PARAMS kernel = {};
    if (cudaError_t error = call(cuGraphKernelNodeGetParams, node, &kernel))
        return error;
    *parameters = {const_cast<void *>(symbol_of(kernel.func)),
                   {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                   {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
                   kernel.sharedMemBytes,
                   kernel.kernelParams,
                   kernel.extra};
    return cudaSuccess;
}

API cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *parameters)
{
    CUDA_MEMCPY3D copy = {};
    if (cudaError_t error = call(cuGraphMemcpyNodeGetParams, node, &copy))
        return error;
    *parameters = parameters_of(copy);
    return cudaSuccess;
}
