// Allocations in the order of a stream.
#include "runtime/runtime.h"

API cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    return allocate(pointer, bytes,
                    [=](CUdeviceptr *address) { return cuMemAllocAsync(address, bytes, stream); });
}

API cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return allocate(pointer, bytes, [=](CUdeviceptr *address) {
        return cuMemAllocFromPoolAsync(address, bytes, pool, stream);
    });
}
