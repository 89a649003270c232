// Memory: allocations of all forms, arrays, pools and pointers.
#include "runtime/descriptors.h"

namespace {

cudaError_t allocate_pitched(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return keep(cudaErrorInvalidValue);
    *pitch = 0;
    return allocate(pointer, width * height, [=](CUdeviceptr *address) {
        return cuMemAllocPitch(address, pitch, width, height, 4);
    });
}

cudaError_t describe_array(const cudaChannelFormatDesc *channels, cudaExtent extent, unsigned flags,
                           CUDA_ARRAY3D_DESCRIPTOR *array)
{
    Format format = {};
    if (!channels || !format_of(*channels, &format))
        return cudaErrorInvalidChannelDescriptor;
    *array = {extent.width, extent.height, extent.depth, format.format, format.channels, flags};
    return cudaSuccess;
}

} // namespace

// --- device memory ------------------------------------------------------------------------------

API cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes,
                    [=](CUdeviceptr *address) { return cuMemAlloc(address, bytes); });
}

API cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    return allocate_pitched(pointer, pitch, width, height);
}

API cudaMalloc3D(cudaPitchedPtr *pitched, cudaExtent extent)
{
    if (!pitched)
        return keep(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width,
                            extent.height * extent.depth);
}

API cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    return allocate(pointer, bytes,
                    [=](CUdeviceptr *address) { return cuMemAllocManaged(address, bytes, flags); });
}

API cudaFree(void *pointer)
{
    if (cudaError_t error = enter())
        return keep(error);
    return call(cuMemFree, pointer);
}

// --- host memory --------------------------------------------------------------------------------

API cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    return allocate(pointer, bytes,
                    [=](CUdeviceptr *) { return cuMemHostAlloc(pointer, bytes, flags); });
}

API cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

API cudaFreeHost(void *pointer)
{
    if (cudaError_t error = enter())
        return keep(error);
    return pointer ? call(cuMemFreeHost, pointer) : cudaSuccess;
}

// --- arrays -------------------------------------------------------------------------------------

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       cudaChannelFormatKind kind)
{
    return {x, y, z, w, kind};
}

API cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, cudaExtent extent,
                      unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (cudaError_t error = describe_array(channels, extent, flags, &description))
        return keep(error);
    return call(cuArray3DCreate, array, &description);
}

API cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *channels, size_t width,
                    size_t height, unsigned flags)
{
    return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}

API cudaFreeArray(cudaArray_t array) { return array ? call(cuArrayDestroy, array) : cudaSuccess; }

API cudaArrayGetInfo(cudaChannelFormatDesc *channels, cudaExtent *extent, unsigned *flags,
                     cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (cudaError_t error = call(cuArray3DGetDescriptor, &description, array))
        return error;
    if (channels)
        *channels = channels_of(description.Format, description.NumChannels);
    if (extent)
        *extent = {description.Width, description.Height, description.Depth};
    if (flags)
        *flags = description.Flags;
    return cudaSuccess;
}

API cudaGetChannelDesc(cudaChannelFormatDesc *channels, cudaArray_const_t array)
{
    return cudaArrayGetInfo(channels, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

API cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const cudaChannelFormatDesc *channels,
                             cudaExtent extent, unsigned levels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (cudaError_t error = describe_array(channels, extent, flags, &description))
        return keep(error);
    return call(cuMipmappedArrayCreate, array, &description, levels);
}

API cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return array ? call(cuMipmappedArrayDestroy, array) : cudaSuccess;
}

// --- managed memory and pointers -----------------------------------------------------------------

// A pointer that the driver does not know is unregistered host memory, not an error.
API cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    if (!attributes)
        return keep(cudaErrorInvalidValue);
    if (cudaError_t error = enter())
        return keep(error);
    unsigned type = 0, managed = 0;
    int device = cudaInvalidDeviceId;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = nullptr;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
    };
    void *values[] = {&type, &managed, &device, &device_pointer, &host_pointer};
    CUresult status = cuPointerGetAttributes(5, names, values,
                                             reinterpret_cast<CUdeviceptr>(pointer));
    *attributes = {};
    attributes->type = managed ? cudaMemoryTypeManaged : static_cast<cudaMemoryType>(type);
    attributes->device = type ? device : cudaInvalidDeviceId;
    attributes->devicePointer = reinterpret_cast<void *>(device_pointer);
    attributes->hostPointer = type ? host_pointer : const_cast<void *>(pointer);
    return keep(status);
}
