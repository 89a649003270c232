// Texture and surface objects. The runtime keeps their descriptions, because the driver's have
// other layouts.
#include "runtime/descriptors.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace {

struct Object {
    cudaResourceDesc resource;
    cudaTextureDesc texture;
    cudaResourceViewDesc view;
    bool viewed;
};

struct Objects {
    std::mutex mutex;
    std::unordered_map<unsigned long long, Object> by_handle;
};

Objects &objects()
{
    static Objects &instance = *new Objects;
    return instance;
}

void remember(unsigned long long handle, const Object &object)
{
    std::lock_guard<std::mutex> lock(objects().mutex);
    objects().by_handle[handle] = object;
}

void forget(unsigned long long handle)
{
    std::lock_guard<std::mutex> lock(objects().mutex);
    objects().by_handle.erase(handle);
}

template <class Value>
cudaError_t recall(unsigned long long handle, Value Object::*member, Value *value)
{
    std::lock_guard<std::mutex> lock(objects().mutex);
    auto found = objects().by_handle.find(handle);
    if (found == objects().by_handle.end() || !value)
        return keep(cudaErrorInvalidValue);
    *value = found->second.*member;
    return cudaSuccess;
}

cudaError_t describe_resource(const cudaResourceDesc &from, CUDA_RESOURCE_DESC *to)
{
    Format format = {};
    *to = {};
    to->resType = static_cast<CUresourcetype>(from.resType);
    switch (from.resType) {
    case cudaResourceTypeArray:
        to->res.array.hArray = (CUarray)from.res.array.array;
        return cudaSuccess;
    case cudaResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from.res.mipmap.mipmap;
        return cudaSuccess;
    case cudaResourceTypeLinear:
        if (!format_of(from.res.linear.desc, &format))
            return cudaErrorInvalidChannelDescriptor;
        to->res.linear = {reinterpret_cast<CUdeviceptr>(from.res.linear.devPtr), format.format,
                          format.channels, from.res.linear.sizeInBytes};
        return cudaSuccess;
    case cudaResourceTypePitch2D: {
        auto &pitched = from.res.pitch2D;
        if (!format_of(pitched.desc, &format))
            return cudaErrorInvalidChannelDescriptor;
        to->res.pitch2D = {reinterpret_cast<CUdeviceptr>(pitched.devPtr),
                           format.format,
                           format.channels,
                           pitched.width,
                           pitched.height,
                           pitched.pitchInBytes};
        return cudaSuccess;
    }
    }
    return cudaErrorInvalidValue;
}

CUDA_TEXTURE_DESC describe_texture(const cudaTextureDesc &from)
{
    CUDA_TEXTURE_DESC to = {};
    for (int i = 0; i < 3; ++i)
        to.addressMode[i] = static_cast<CUaddress_mode>(from.addressMode[i]);
    to.filterMode = static_cast<CUfilter_mode>(from.filterMode);
    to.flags = (from.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
               (from.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
               (from.sRGB ? CU_TRSF_SRGB : 0) |
               (from.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
               (from.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
    to.maxAnisotropy = from.maxAnisotropy;
    to.mipmapFilterMode = static_cast<CUfilter_mode>(from.mipmapFilterMode);
    to.mipmapLevelBias = from.mipmapLevelBias;
    to.minMipmapLevelClamp = from.minMipmapLevelClamp;
    to.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
    memcpy(to.borderColor, from.borderColor, sizeof to.borderColor);
    return to;
}

// Linear filtering gives fractions, so the texels must be or become floating-point numbers.
cudaError_t check_texture(const cudaResourceDesc &resource, const cudaTextureDesc &texture)
{
    cudaChannelFormatDesc channels = {};
    if (resource.resType == cudaResourceTypeLinear)
        channels = resource.res.linear.desc;
    else if (resource.resType == cudaResourceTypePitch2D)
        channels = resource.res.pitch2D.desc;
    else if (resource.resType == cudaResourceTypeArray)
        cudaGetChannelDesc(&channels, resource.res.array.array);
    bool integer = channels.f == cudaChannelFormatKindSigned ||
                   channels.f == cudaChannelFormatKindUnsigned;
    if (integer && channels.x == 32 && texture.readMode == cudaReadModeNormalizedFloat)
        return cudaErrorInvalidNormSetting;
    if (integer && channels.x && texture.readMode == cudaReadModeElementType &&
        texture.filterMode == cudaFilterModeLinear)
        return cudaErrorInvalidFilterSetting;
    return cudaSuccess;
}

} // namespace

API cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                            const cudaTextureDesc *texture, const cudaResourceViewDesc *view)
{
    if (!object || !resource || !texture)
        return keep(cudaErrorInvalidValue);
    CUDA_RESOURCE_DESC description;
    if (cudaError_t error = describe_resource(*resource, &description))
        return keep(error);
    if (cudaError_t error = check_texture(*resource, *texture))
        return keep(error);
    CUDA_TEXTURE_DESC sampling = describe_texture(*texture);
    if (cudaError_t error = call(cuTexObjectCreate, object, &description, &sampling, view))
        return error;
    remember(*object,
             {*resource, *texture, view ? *view : cudaResourceViewDesc{}, view != nullptr});
    return cudaSuccess;
}

API cudaDestroyTextureObject(cudaTextureObject_t object)
{
    forget(object);
    return object ? call(cuTexObjectDestroy, object) : cudaSuccess;
}

API cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource, cudaTextureObject_t object)
{
    return recall(object, &Object::resource, resource);
}

API cudaGetTextureObjectTextureDesc(cudaTextureDesc *texture, cudaTextureObject_t object)
{
    return recall(object, &Object::texture, texture);
}

API cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *view, cudaTextureObject_t object)
{
    bool viewed = false;
    if (cudaError_t error = recall(object, &Object::viewed, &viewed))
        return error;
    return viewed ? recall(object, &Object::view, view) : keep(cudaErrorInvalidValue);
}

API cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource)
{
    if (!object || !resource)
        return keep(cudaErrorInvalidValue);
    CUDA_RESOURCE_DESC description;
    if (cudaError_t error = describe_resource(*resource, &description))
        return keep(error);
    if (cudaError_t error = call(cuSurfObjectCreate, object, &description))
        return error;
    remember(*object, {*resource, {}, {}, false});
    return cudaSuccess;
}

API cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    forget(object);
    return object ? call(cuSurfObjectDestroy, object) : cudaSuccess;
}

API cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *resource, cudaSurfaceObject_t object)
{
    return recall(object, &Object::resource, resource);
}
