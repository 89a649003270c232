// Copies and fills of memory and arrays.
#include "runtime/descriptors.h"

namespace {

cudaError_t copy_box(const Box &box) { return call(cuMemcpy3D, box); }

cudaError_t copy_box(const Box &box, cudaStream_t stream)
{
    return call(cuMemcpy3DAsync, box, stream);
}

// A copy from host to host does not insist on host memory.
template <class... Stream>
cudaError_t copy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind,
                 Stream... stream)
{
    kind = kind == cudaMemcpyHostToHost ? cudaMemcpyDefault : kind;
    Box box = line(target, source, bytes, kind);
    return bytes || box.error ? copy_box(box, stream...) : keep(enter());
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

cudaError_t fill(char *to, size_t pitch, int value, size_t width, size_t rows)
{
    return call(cuMemsetD2D8, to, pitch, value, width, rows);
}

cudaError_t fill(char *to, size_t pitch, int value, size_t width, size_t rows, cudaStream_t stream)
{
    return call(cuMemsetD2D8Async, to, pitch, value, width, rows, stream);
}

// Fills one slice after another where rows lie between the slices, else all slices at once.
template <class... Stream>
cudaError_t fill_slices(const cudaPitchedPtr &memory, int value, cudaExtent extent,
                        Stream... stream)
{
    char *slice = static_cast<char *>(memory.ptr);
    size_t pitch = memory.pitch, width = extent.width;
    if (memory.ysize == extent.height)
        return fill(slice, pitch, value, width, extent.height * extent.depth, stream...);
    for (size_t z = 0; z < extent.depth; ++z, slice += pitch * memory.ysize)
        if (cudaError_t error = fill(slice, pitch, value, width, extent.height, stream...))
            return error;
    return cudaSuccess;
}

} // namespace

// --- linear memory ------------------------------------------------------------------------------

API cudaMemcpyBatchAsync(void *const *targets, const void *const *sources, const size_t *bytes,
                         size_t count, cudaMemcpyAttributes *, size_t *, size_t,
                         cudaStream_t stream)
{
    for (size_t i = 0; i < count; ++i)
        if (cudaError_t error = copy(targets[i], sources[i], bytes[i], cudaMemcpyDefault, stream))
            return error;
    return cudaSuccess;
}
