// Copies and fills of memory and arrays.
#include "runtime/descriptors.h"

namespace {

bool is_direction(cudaMemcpyKind kind)
{
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

cudaError_t copy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return call(cuMemcpyHtoD, target, source, bytes);
    case cudaMemcpyDeviceToHost:
        return call(cuMemcpyDtoH, target, source, bytes);
    case cudaMemcpyDeviceToDevice:
        return call(cuMemcpyDtoD, target, source, bytes);
    default:
        return is_direction(kind) ? call(cuMemcpy, target, source, bytes)
                                  : keep(cudaErrorInvalidMemcpyDirection);
    }
}

cudaError_t copy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream)
{
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return call(cuMemcpyHtoDAsync, target, source, bytes, stream);
    case cudaMemcpyDeviceToHost:
        return call(cuMemcpyDtoHAsync, target, source, bytes, stream);
    case cudaMemcpyDeviceToDevice:
        return call(cuMemcpyDtoDAsync, target, source, bytes, stream);
    default:
        return is_direction(kind) ? call(cuMemcpyAsync, target, source, bytes, stream)
                                  : keep(cudaErrorInvalidMemcpyDirection);
    }
}

cudaError_t copy_box(const Box &box) { return call(cuMemcpy3D, box); }

cudaError_t copy_box(const Box &box, cudaStream_t stream)
{
    return call(cuMemcpy3DAsync, box, stream);
}

template <class... Stream>
cudaError_t copy_to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, Stream... stream)
{
    void *target = nullptr;
    if (cudaError_t error = locate(symbol, offset, bytes, kind, false, &target))
        return keep(error);
    return copy(target, source, bytes, kind, stream...);
}

template <class... Stream>
cudaError_t copy_from_symbol(void *target, const void *symbol, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, Stream... stream)
{
    void *source = nullptr;
    if (cudaError_t error = locate(symbol, offset, bytes, kind, true, &source))
        return keep(error);
    return copy(target, source, bytes, kind, stream...);
}

// `bytes` of an array in the order of its rows, from byte x of row y: at most three boxes.
template <class Copy>
cudaError_t walk_rows(cudaArray_const_t array, size_t x, size_t y, size_t bytes, Copy copy_part)
{
    CUDA_ARRAY3D_DESCRIPTOR description;
    if (cudaError_t error = call(cuArray3DGetDescriptor, &description, array))
        return error;
    size_t row = description.Width * element_bytes(description);
    for (size_t done = 0; done < bytes;) {
        size_t rest = bytes - done;
        bool whole = x == 0 && rest >= row;
        size_t width = whole ? row : rest < row - x ? rest : row - x;
        size_t height = whole ? rest / row : 1;
        if (cudaError_t error = copy_part(x, y, done, width, height))
            return error;
        done += width * height;
        x = 0;
        y += height;
    }
    return cudaSuccess;
}

template <class... Stream>
cudaError_t copy_to_array(cudaArray_t target, size_t x, size_t y, const void *source, size_t bytes,
                          cudaMemcpyKind kind, Stream... stream)
{
    auto part = [&](size_t column, size_t row, size_t done, size_t width, size_t height) {
        Side from = memory(static_cast<const char *>(source) + done, width);
        return copy_box(rows(in_array(target, column, row), from, width, height, kind), stream...);
    };
    return walk_rows(target, x, y, bytes, part);
}

template <class... Stream>
cudaError_t copy_from_array(void *target, cudaArray_const_t source, size_t x, size_t y,
                            size_t bytes, cudaMemcpyKind kind, Stream... stream)
{
    auto part = [&](size_t column, size_t row, size_t done, size_t width, size_t height) {
        Side to = memory(static_cast<char *>(target) + done, width);
        return copy_box(rows(to, in_array(source, column, row), width, height, kind), stream...);
    };
    return walk_rows(source, x, y, bytes, part);
}

// Fills one slice after another where rows lie between the slices, else all slices at once.
template <class Fill>
cudaError_t fill_slices(const cudaPitchedPtr &memory, cudaExtent extent, Fill fill)
{
    char *slice = static_cast<char *>(memory.ptr);
    if (memory.ysize == extent.height)
        return fill(slice, extent.height * extent.depth);
    for (size_t z = 0; z < extent.depth; ++z, slice += memory.pitch * memory.ysize)
        if (cudaError_t error = fill(slice, extent.height))
            return error;
    return cudaSuccess;
}

} // namespace

// --- linear memory ------------------------------------------------------------------------------

API cudaMemcpy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind)
{
    return copy(target, source, bytes, kind);
}

API cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind,
                    cudaStream_t stream)
{
    return copy(target, source, bytes, kind, stream);
}

API cudaMemcpyBatchAsync(void *const *targets, const void *const *sources, const size_t *bytes,
                         size_t count, cudaMemcpyAttributes *, size_t *, size_t,
                         cudaStream_t stream)
{
    for (size_t i = 0; i < count; ++i)
        if (cudaError_t error = copy(targets[i], sources[i], bytes[i], cudaMemcpyDefault, stream))
            return error;
    return cudaSuccess;
}

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
// These functions have one form for both kinds of default streams.
#endif

// --- symbols ------------------------------------------------------------------------------------

API cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                       cudaMemcpyKind kind)
{
    return copy_to_symbol(symbol, source, bytes, offset, kind);
}

API cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t bytes, size_t offset,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to_symbol(symbol, source, bytes, offset, kind, stream);
}

API cudaMemcpyFromSymbol(void *target, const void *symbol, size_t bytes, size_t offset,
                         cudaMemcpyKind kind)
{
    return copy_from_symbol(target, symbol, bytes, offset, kind);
}

API cudaMemcpyFromSymbolAsync(void *target, const void *symbol, size_t bytes, size_t offset,
                              cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from_symbol(target, symbol, bytes, offset, kind, stream);
}

// --- arrays -------------------------------------------------------------------------------------

API cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void *source, size_t bytes,
                      cudaMemcpyKind kind)
{
    return copy_to_array(target, x, y, source, bytes, kind);
}

API cudaMemcpyToArrayAsync(cudaArray_t target, size_t x, size_t y, const void *source, size_t bytes,
                           cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to_array(target, x, y, source, bytes, kind, stream);
}

API cudaMemcpyFromArray(void *target, cudaArray_const_t source, size_t x, size_t y, size_t bytes,
                        cudaMemcpyKind kind)
{
    return copy_from_array(target, source, x, y, bytes, kind);
}

API cudaMemcpyFromArrayAsync(void *target, cudaArray_const_t source, size_t x, size_t y,
                             size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from_array(target, source, x, y, bytes, kind, stream);
}

// --- fills --------------------------------------------------------------------------------------

API cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent)
{
    return fill_slices(memory, extent, [=](char *slice, size_t rows) {
        return cudaMemset2D(slice, memory.pitch, value, extent.width, rows);
    });
}

API cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream)
{
    return fill_slices(memory, extent, [=](char *slice, size_t rows) {
        return cudaMemset2DAsync(slice, memory.pitch, value, extent.width, rows, stream);
    });
}
