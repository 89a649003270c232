// The API's copies and fills. Each is a box of rows and slices.
#include "driver/streamed.h"

namespace {

// The start of a copy's source or target: an address, or a byte of an array.
struct Place {
    CUmemorytype type;
    CUdeviceptr address;
    CUarray array = nullptr;
    size_t offset = 0;

    Place(CUdeviceptr device) : type(CU_MEMORYTYPE_DEVICE), address(device) {}
    Place(const void *host) : type(CU_MEMORYTYPE_HOST), address(CUdeviceptr(host)) {}
    Place(CUarray whole, size_t byte)
        : type(CU_MEMORYTYPE_ARRAY), address(0), array(whole), offset(byte)
    {
    }
};

Place unified(CUdeviceptr address)
{
    Place place = address;
    place.type = CU_MEMORYTYPE_UNIFIED;
    return place;
}

CUDA_MEMCPY3D line(const Place &target, const Place &source, size_t bytes)
{
    CUDA_MEMCPY3D box = ::line(target.address, source.address, bytes);
    box.dstMemoryType = target.type;
    box.dstArray = target.array;
    box.dstXInBytes = target.offset;
    box.srcMemoryType = source.type;
    box.srcArray = source.array;
    box.srcXInBytes = source.offset;
    return box;
}

// The fields that all descriptions of copies have.
template <class Description> CUDA_MEMCPY3D box(const Description &from)
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
CUDA_MEMCPY3D box(const CUDA_MEMCPY3D_PEER &from)
{
    CUDA_MEMCPY3D box = ::box<CUDA_MEMCPY3D_PEER>(from);
    box.srcZ = from.srcZ;
    box.srcHeight = from.srcHeight;
    box.dstZ = from.dstZ;
    box.dstHeight = from.dstHeight;
    box.Depth = from.Depth;
    return box;
}

CUresult copy(const CUDA_MEMCPY3D &box, CUstream handle)
{
    ENTER(healthy);
    return submit(call, stream_of(handle), Copy{box, true});
}

// The host waits: errors of earlier work appear.
CUresult copy(const CUDA_MEMCPY3D &box)
{
    ENTER(safe);
    TRY(check_operation(Copy{box, false}));
    CUstream stream = stream_of(nullptr);
    finish_earlier(*stream);
    TRY(report(call.context));
    return submit(call, stream, Copy{box, false});
}

template <class... Stream>
CUresult copy_line(const Place &target, const Place &source, size_t bytes, Stream... stream)
{
    return bytes ? copy(line(target, source, bytes), stream...) : CUDA_SUCCESS;
}

CUresult fill(const Fill &fill, CUstream handle)
{
    ENTER(healthy);
    return submit(call, stream_of(handle), fill);
}

} // namespace
