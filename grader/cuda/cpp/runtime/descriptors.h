// Descriptions of arrays and of copies in two and three dimensions, for the driver.
#pragma once

#include "runtime/runtime.h"

// The driver's format of an array's elements.
struct Format {
    CUarray_format format;
    unsigned channels;
};

// False for a format that no array has.
bool format_of(const cudaChannelFormatDesc &description, Format *format);
Translated<CUDA_ARRAY3D_DESCRIPTOR> array_of(const cudaChannelFormatDesc *channels,
                                             cudaExtent extent, unsigned flags);
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels);
size_t element_bytes(const CUDA_ARRAY3D_DESCRIPTOR &array);

// One side of a copy: memory with a pitch, or an array. `x` in bytes.
struct Side {
    void *pointer;
    size_t pitch, height;
    CUarray array;
    size_t x, y, z;
};

inline Side memory(const void *pointer, size_t pitch)
{
    return {const_cast<void *>(pointer), pitch, 0, nullptr, 0, 0, 0};
}

inline Side in_array(cudaArray_const_t array, size_t x, size_t y)
{
    return {nullptr, 0, 0, (CUarray)array, x, y, 0};
}

// Copies for cuMemcpy3D: of a box, of rows (width in bytes), of linear memory, of a variable.
Box box(const cudaMemcpy3DParms *parameters);
Box box(const cudaMemcpy3DPeerParms *parameters);
Box rows(const Side &target, const Side &source, size_t width, size_t height, cudaMemcpyKind kind);
Box line(void *target, const void *source, size_t bytes, cudaMemcpyKind kind);
Box line_to_symbol(const void *symbol, const void *source, size_t bytes, size_t offset,
                   cudaMemcpyKind kind);
Box line_from_symbol(void *target, const void *symbol, size_t bytes, size_t offset,
                     cudaMemcpyKind kind);
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D &copy);

// The part of a variable that a copy reads (`to_host`) or writes.
cudaError_t locate(const void *symbol, size_t offset, size_t bytes, cudaMemcpyKind kind,
                   bool to_host, void **address);
