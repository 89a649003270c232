// Attributes of kernels.
#include "runtime/runtime.h"

namespace {

CUresult fill(cudaFuncAttributes &attributes, CUfunction function)
{
    const struct {
        CUfunction_attribute name;
        size_t *wide;
        int *value;
    } fields[] = {
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &attributes.sharedSizeBytes, nullptr},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &attributes.constSizeBytes, nullptr},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &attributes.localSizeBytes, nullptr},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, nullptr, &attributes.maxThreadsPerBlock},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr, &attributes.numRegs},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, nullptr, &attributes.ptxVersion},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, nullptr, &attributes.binaryVersion},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, nullptr, &attributes.cacheModeCA},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, nullptr,
         &attributes.maxDynamicSharedSizeBytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, nullptr,
         &attributes.preferredShmemCarveout},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, nullptr, &attributes.clusterDimMustBeSet},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, nullptr, &attributes.requiredClusterWidth},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, nullptr, &attributes.requiredClusterHeight},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, nullptr, &attributes.requiredClusterDepth},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, nullptr,
         &attributes.clusterSchedulingPolicyPreference},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, nullptr,
         &attributes.nonPortableClusterSizeAllowed},
    };
    attributes = {};
    for (auto &field : fields) {
        int value = 0;
        if (CUresult status = cuFuncGetAttribute(&value, field.name, function))
            return status;
        if (field.wide)
            *field.wide = static_cast<size_t>(value);
        else
            *field.value = value;
    }
    return CUDA_SUCCESS;
}

} // namespace

API cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *symbol)
{
    CUfunction function = nullptr;
    if (cudaError_t error = find_function(symbol, &function))
        return keep(error);
    return attributes ? keep(fill(*attributes, function)) : keep(cudaErrorInvalidValue);
}

// Banks of shared memory have one width on all GPUs of today.
API cudaFuncSetSharedMemConfig(const void *symbol, cudaSharedMemConfig)
{
    CUfunction function = nullptr;
    return keep(find_function(symbol, &function));
}
