// cudaDeviceProp: most fields are attributes of the device.
#include "runtime/runtime.h"

#include <cstddef>
#include <cstring>

namespace {

// A field of cudaDeviceProp that holds an attribute of the device; `wide` for size_t.
struct Field {
    size_t offset;
    int attribute;
    bool wide;
};

// Written from property_fields.def. CUDA 13 removed some fields and has `reserved` in their place;
// grader/cuda/compile_program.py gives them back to programs.
constexpr Field fields[] = {
#define FIELD(name, attribute)                                                                     \
    {offsetof(cudaDeviceProp, name), cudaDevAttr##attribute,                                       \
     sizeof(cudaDeviceProp::name) == sizeof(size_t)},
#include "properties.def"
};

void fill(cudaDeviceProp &properties, const Field &field, int device)
{
    int value = 0;
    cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(field.attribute), device);
    char *place = reinterpret_cast<char *>(&properties) + field.offset;
    size_t wide = static_cast<size_t>(value);
    if (field.wide)
        memcpy(place, &wide, sizeof wide);
    else
        memcpy(place, &value, sizeof value);
}

} // namespace

API cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (!properties)
        return keep(cudaErrorInvalidValue);
    int value = 0;
    if (cudaError_t error = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device))
        return error;
    memset(properties, 0, sizeof *properties);
    for (const Field &field : fields)
        fill(*properties, field, device);
    cuDeviceGetName(properties->name, sizeof properties->name, device);
    cuDeviceGetUuid(&properties->uuid, device);
    return keep(cuDeviceTotalMem(&properties->totalGlobalMem, device));
}
