#include "runtime/descriptors.h"

#include <algorithm>
#include <iterator>

namespace {

struct FormatRow {
    cudaChannelFormatKind kind;
    int bits;
    CUarray_format format;
};

constexpr FormatRow formats[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

// Memory types of the source and the target, by cudaMemcpyKind.
constexpr CUmemorytype types[][2] = {
    {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},       {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
    {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},     {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
    {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
};

CUmemorytype type_of(const Side &side, CUmemorytype type)
{
    return side.array ? CU_MEMORYTYPE_ARRAY : type;
}

// Positions and widths are in elements where an array takes part; 1 byte where none does.
size_t unit_of(cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (!array || cuArray3DGetDescriptor(&description, (CUarray)array))
        return 1;
    return element_bytes(description);
}

Side side_of(cudaArray_t array, cudaPos at, cudaPitchedPtr memory)
{
    size_t x = at.x * unit_of(array);
    return {memory.ptr, memory.pitch, memory.ysize, (CUarray)array, x, at.y, at.z};
}

cudaMemcpyKind kind_of(CUmemorytype source, CUmemorytype target)
{
    if (source == CU_MEMORYTYPE_UNIFIED || target == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    return static_cast<cudaMemcpyKind>((source != CU_MEMORYTYPE_HOST) * 2 +
                                       (target != CU_MEMORYTYPE_HOST));
}

void *pointer_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return nullptr;
    return type == CU_MEMORYTYPE_HOST ? const_cast<void *>(host) : reinterpret_cast<void *>(device);
}

// A copy of `extent`, width in bytes.
Box describe(const Side &target, const Side &source, cudaExtent extent, cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return {cudaErrorInvalidMemcpyDirection, {}};
    CUDA_MEMCPY3D copy = {};
#define SIDE(prefix, side, column)                                                                 \
    copy.prefix##XInBytes = side.x;                                                                \
    copy.prefix##Y = side.y;                                                                       \
    copy.prefix##Z = side.z;                                                                       \
    copy.prefix##MemoryType = type_of(side, types[kind][column]);                                  \
    copy.prefix##Host = side.pointer;                                                              \
    copy.prefix##Device = reinterpret_cast<CUdeviceptr>(side.pointer);                             \
    copy.prefix##Array = side.array;                                                               \
    copy.prefix##Pitch = side.pitch;                                                               \
    copy.prefix##Height = side.height
    SIDE(src, source, 0);
    SIDE(dst, target, 1);
#undef SIDE
    copy.WidthInBytes = extent.width;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    bool pitched = (target.array || target.pitch >= target.x + extent.width) &&
                   (source.array || source.pitch >= source.x + extent.width);
    return {pitched || extent.height <= 1 ? cudaSuccess : cudaErrorInvalidPitchValue, copy};
}

} // namespace

bool format_of(const cudaChannelFormatDesc &description, Format *format)
{
    const int bits[] = {description.x, description.y, description.z, description.w};
    auto used = std::find(bits, bits + 4, 0);
    format->channels = static_cast<unsigned>(used - bits);
    bool equal = std::all_of(bits, used, [&](int size) { return size == bits[0]; });
    bool rest = std::all_of(used, bits + 4, [](int size) { return size == 0; });
    auto row = std::find_if(std::begin(formats), std::end(formats), [&](const FormatRow &known) {
        return known.kind == description.f && known.bits == bits[0];
    });
    if (!equal || !rest || format->channels == 3 || row == std::end(formats))
        return false;
    format->format = row->format;
    return true;
}

Translated<CUDA_ARRAY3D_DESCRIPTOR> array_of(const cudaChannelFormatDesc *channels,
                                             cudaExtent extent, unsigned flags)
{
    Format format = {};
    if (!channels || !format_of(*channels, &format))
        return {cudaErrorInvalidChannelDescriptor, {}};
    return {cudaSuccess,
            {extent.width, extent.height, extent.depth, format.format, format.channels, flags}};
}

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels)
{
    for (const FormatRow &row : formats)
        if (row.format == format)
            return {row.bits, channels > 1 ? row.bits : 0, channels > 2 ? row.bits : 0,
                    channels > 3 ? row.bits : 0, row.kind};
    return {0, 0, 0, 0, cudaChannelFormatKindNone};
}

size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR &array)
{
    return static_cast<size_t>(channels_of(array.Format, 1).x) / 8 * array.NumChannels;
}

Box rows(const Side &target, const Side &source, size_t width, size_t height, cudaMemcpyKind kind)
{
    return describe(target, source, {width, height, 1}, kind);
}

Box line(void *target, const void *source, size_t bytes, cudaMemcpyKind kind)
{
    return rows(memory(target, bytes), memory(source, bytes), bytes, 1, kind);
}

Box box(const cudaMemcpy3DParms *parameters)
{
    cudaError_t error = enter();
    if (error || !parameters)
        return {error ? error : cudaErrorInvalidValue, {}};
    auto &[from, from_at, from_memory, to, to_at, to_memory, size, kind] = *parameters;
    if ((from && from_memory.ptr) || (to && to_memory.ptr))
        return {cudaErrorInvalidValue, {}};
    cudaExtent extent = size;
    extent.width *= unit_of(from ? from : to);
    return describe(side_of(to, to_at, to_memory), side_of(from, from_at, from_memory), extent,
                    kind);
}

// Addresses are unique over all devices: a copy between devices needs no other call.
Box box(const cudaMemcpy3DPeerParms *peer)
{
    if (!peer)
        return {cudaErrorInvalidValue, {}};
    cudaMemcpy3DParms parameters = {peer->srcArray, peer->srcPos, peer->srcPtr, peer->dstArray,
                                    peer->dstPos,   peer->dstPtr, peer->extent, cudaMemcpyDefault};
    return box(&parameters);
}

cudaError_t locate(const void *symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                   bool to_host, void **address)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    if (cudaError_t error = find_variable(symbol, &start, &size))
        return error;
    if (kind != cudaMemcpyDefault && kind != cudaMemcpyDeviceToDevice &&
        kind != (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return cudaErrorInvalidMemcpyDirection;
    *address = reinterpret_cast<void *>(start + offset);
    return offset <= size && bytes <= size - offset ? cudaSuccess : cudaErrorInvalidValue;
}

Box line_to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                   cudaMemcpyKind kind)
{
    void *target = nullptr;
    cudaError_t error = locate(symbol, offset, bytes, kind, false, &target);
    return error ? Box{error, {}} : line(target, source, bytes, kind);
}

Box line_from_symbol(void *target, const void *symbol, size_t bytes, size_t offset,
                     cudaMemcpyKind kind)
{
    void *source = nullptr;
    cudaError_t error = locate(symbol, offset, bytes, kind, true, &source);
    return error ? Box{error, {}} : line(target, source, bytes, kind);
}

cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D &copy)
{
    cudaMemcpy3DParms parameters = {};
#define SIDE(prefix)                                                                               \
    cudaArray_t prefix##Array = copy.prefix##MemoryType == CU_MEMORYTYPE_ARRAY                     \
                                    ? (cudaArray_t)copy.prefix##Array                              \
                                    : nullptr;                                                     \
    parameters.prefix##Array = prefix##Array;                                                      \
    parameters.prefix##Pos = {copy.prefix##XInBytes / unit_of(prefix##Array), copy.prefix##Y,      \
                              copy.prefix##Z};                                                     \
    parameters.prefix##Ptr = {                                                                     \
        pointer_of(copy.prefix##MemoryType, copy.prefix##Host, copy.prefix##Device),               \
        copy.prefix##Pitch, copy.prefix##Pitch, copy.prefix##Height}
    SIDE(src);
    SIDE(dst);
#undef SIDE
    size_t unit = unit_of(srcArray ? srcArray : dstArray);
    parameters.extent = {copy.WidthInBytes / unit, copy.Height, copy.Depth};
    parameters.kind = kind_of(copy.srcMemoryType, copy.dstMemoryType);
    return parameters;
}
