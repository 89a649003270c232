// Memory: allocations of all forms, arrays, pools and pointers.
#include "runtime/descriptors.h"

// --- device memory ------------------------------------------------------------------------------

API cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return keep(cudaErrorInvalidValue);
    *pitch = 0;
    return allocate(pointer, width * height, cuMemAllocPitch, pitch, width, height, 4u);
}

API cudaMalloc3D(cudaPitchedPtr *pitched, cudaExtent extent)
{
    if (!pitched)
        return keep(cudaErrorInvalidValue);
    pitched->xsize = extent.width;
    pitched->ysize = extent.height;
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width,
                           extent.height * extent.depth);
}

// --- arrays -------------------------------------------------------------------------------------

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                       cudaChannelFormatKind kind)
{
    return {x, y, z, w, kind};
}

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
