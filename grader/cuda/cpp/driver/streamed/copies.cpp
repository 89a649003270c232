// The API's copies and fills. Each is a box of rows and slices.
#include "driver/streamed.h"

namespace {

CUdeviceptr address_of(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

CUresult copy_async(const CUDA_MEMCPY3D &box, CUstream handle)
{
    ENTER(healthy);
    return submit(call, stream_of(call, handle), Copy{box, true});
}

// The host waits: errors of earlier work appear.
CUresult copy_now(const CUDA_MEMCPY3D &box)
{
    ENTER(safe);
    TRY(check_operation(Copy{box, false}));
    CUstream stream = stream_of(call, nullptr);
    finish_earlier(*stream);
    TRY(report(call.context));
    return submit(call, stream, Copy{box, false});
}

CUDA_MEMCPY3D line(CUdeviceptr target, CUmemorytype to, CUdeviceptr source, CUmemorytype from,
                   size_t bytes)
{
    CUDA_MEMCPY3D box = ::line(target, source, bytes);
    box.dstMemoryType = to;
    box.srcMemoryType = from;
    return box;
}

CUDA_MEMCPY3D part_of_array(CUDA_MEMCPY3D box, bool target, CUarray array, size_t offset)
{
    (target ? box.dstMemoryType : box.srcMemoryType) = CU_MEMORYTYPE_ARRAY;
    (target ? box.dstArray : box.srcArray) = array;
    (target ? box.dstXInBytes : box.srcXInBytes) = offset;
    return box;
}

// The fields that all descriptions of copies have.
template <class Description> CUDA_MEMCPY3D common_fields(const Description &from)
{
    CUDA_MEMCPY3D box = {};
#define SIDE(side)                                                                                 \
    box.side##XInBytes = from.side##XInBytes;                                                      \
    box.side##Y = from.side##Y;                                                                    \
    box.side##MemoryType = from.side##MemoryType;                                                  \
    box.side##Host = from.side##Host;                                                              \
    box.side##Device = from.side##Device;                                                          \
    box.side##Array = from.side##Array;                                                            \
    box.side##Pitch = from.side##Pitch
    SIDE(src);
    SIDE(dst);
    box.WidthInBytes = from.WidthInBytes;
    box.Height = from.Height;
    box.Depth = 1;
    return box;
}

// Addresses are unique over all devices: the contexts have no effect.
CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER &from)
{
    CUDA_MEMCPY3D box = common_fields(from);
    box.srcZ = from.srcZ;
    box.srcHeight = from.srcHeight;
    box.dstZ = from.dstZ;
    box.dstHeight = from.dstHeight;
    box.Depth = from.Depth;
    return box;
}

CUresult fill(const Fill &fill, CUstream handle)
{
    ENTER(healthy);
    return submit(call, stream_of(call, handle), fill);
}

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, device = CU_MEMORYTYPE_DEVICE,
                       unified = CU_MEMORYTYPE_UNIFIED;

} // namespace

// --- lines --------------------------------------------------------------------------------------

#define LINE(name, Target, to, Source, from)                                                       \
    API name(Target target, Source source, size_t bytes)                                           \
    {                                                                                              \
        return bytes ? copy_now(line((CUdeviceptr)target, to, (CUdeviceptr)source, from, bytes))   \
                     : CUDA_SUCCESS;                                                               \
    }                                                                                              \
    API name##Async(Target target, Source source, size_t bytes, CUstream stream)                   \
    {                                                                                              \
        return bytes ? copy_async(line((CUdeviceptr)target, to, (CUdeviceptr)source, from, bytes), \
                                  stream)                                                          \
                     : CUDA_SUCCESS;                                                               \
    }

LINE(cuMemcpy, CUdeviceptr, unified, CUdeviceptr, unified)
LINE(cuMemcpyHtoD, CUdeviceptr, device, const void *, host)
LINE(cuMemcpyDtoH, void *, host, CUdeviceptr, device)
LINE(cuMemcpyDtoD, CUdeviceptr, device, CUdeviceptr, device)

// The runtime has no context for a device that does not exist.
API cuMemcpyPeer(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from, size_t bytes)
{
    REQUIRE(to && from, CUDA_ERROR_INVALID_DEVICE);
    return copy_now(line(target, device, source, device, bytes));
}

API cuMemcpyPeerAsync(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
                      size_t bytes, CUstream stream)
{
    REQUIRE(to && from, CUDA_ERROR_INVALID_DEVICE);
    return copy_async(line(target, device, source, device, bytes), stream);
}

// --- arrays -------------------------------------------------------------------------------------

API cuMemcpyDtoA(CUarray array, size_t offset, CUdeviceptr source, size_t bytes)
{
    return copy_now(part_of_array(line(0, device, source, device, bytes), true, array, offset));
}

API cuMemcpyAtoD(CUdeviceptr target, CUarray array, size_t offset, size_t bytes)
{
    return copy_now(part_of_array(line(target, device, 0, device, bytes), false, array, offset));
}

API cuMemcpyHtoA(CUarray array, size_t offset, const void *source, size_t bytes)
{
    return copy_now(
        part_of_array(line(0, device, address_of(source), host, bytes), true, array, offset));
}

API cuMemcpyAtoH(void *target, CUarray array, size_t offset, size_t bytes)
{
    return copy_now(
        part_of_array(line(address_of(target), host, 0, device, bytes), false, array, offset));
}

API cuMemcpyAtoA(CUarray target, size_t target_offset, CUarray source, size_t source_offset,
                 size_t bytes)
{
    CUDA_MEMCPY3D box = part_of_array(::line(0, 0, bytes), true, target, target_offset);
    return copy_now(part_of_array(box, false, source, source_offset));
}

API cuMemcpyHtoAAsync(CUarray array, size_t offset, const void *source, size_t bytes,
                      CUstream stream)
{
    return copy_async(
        part_of_array(line(0, device, address_of(source), host, bytes), true, array, offset),
        stream);
}

API cuMemcpyAtoHAsync(void *target, CUarray array, size_t offset, size_t bytes, CUstream stream)
{
    return copy_async(
        part_of_array(line(address_of(target), host, 0, device, bytes), false, array, offset),
        stream);
}

// --- boxes --------------------------------------------------------------------------------------

API cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    return copy ? copy_now(common_fields(*copy)) : bad_value;
}

API cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    return copy ? copy_now(common_fields(*copy)) : bad_value;
}

API cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    return copy ? copy_async(common_fields(*copy), stream) : bad_value;
}

API cuMemcpy3D(const CUDA_MEMCPY3D *copy) { return copy ? copy_now(*copy) : bad_value; }

API cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy ? copy_async(*copy, stream) : bad_value;
}

API cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
    return copy ? copy_now(without_contexts(*copy)) : bad_value;
}

API cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return copy ? copy_async(without_contexts(*copy), stream) : bad_value;
}

// --- fills --------------------------------------------------------------------------------------

#define FILL(bits, Value)                                                                          \
    API cuMemsetD##bits##Async(CUdeviceptr target, Value value, size_t count, CUstream stream)     \
    {                                                                                              \
        return fill({target, 0, value, bits / 8, count, 1}, stream);                               \
    }                                                                                              \
    API cuMemsetD##bits(CUdeviceptr target, Value value, size_t count)                             \
    {                                                                                              \
        return fill({target, 0, value, bits / 8, count, 1, false}, nullptr);                             \
    }                                                                                              \
    API cuMemsetD2D##bits##Async(CUdeviceptr target, size_t pitch, Value value, size_t width,      \
                                 size_t height, CUstream stream)                                   \
    {                                                                                              \
        return fill({target, pitch, value, bits / 8, width, height}, stream);                      \
    }                                                                                              \
    API cuMemsetD2D##bits(CUdeviceptr target, size_t pitch, Value value, size_t width,             \
                          size_t height)                                                           \
    {                                                                                              \
        return fill({target, pitch, value, bits / 8, width, height, false}, nullptr);                   \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned)
