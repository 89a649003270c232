// For libcublas and libcurand: functions of this computer in the order of a stream, on memory of
// the device.
#pragma once

#include <cuda.h>

#include <cstdio>
#include <utility>

#include "wire.h"

// Defined in driver/library_calls.cpp.
//
// Where this process finds `bytes` bytes of the device or of the host; null if they are not in one
// allocation. `writes`: the library writes them.
extern "C" void *grader_view(const void *pointer, size_t bytes, bool writes);
// Adds a kernel of a library to the modelled clock of a stream.
extern "C" void grader_library_call(CUstream stream, const char *name, uint32_t arithmetic,
                                    double operations, double bytes);

// Calls `work` once, or at each launch of the graph that captures the stream.
template <class Work> CUresult run_in_stream(CUstream stream, Work work)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (CUresult error = cuStreamIsCapturing(stream, &status))
        return error;
    auto kept = new std::pair<Work, bool>(std::move(work), status != CU_STREAM_CAPTURE_STATUS_NONE);
    auto run = [](void *data) {
        auto found = static_cast<std::pair<Work, bool> *>(data);
        found->first();
        if (!found->second)
            delete found;
    };
    return cuLaunchHostFunc(stream, run, kept);
}

// Memory of an argument; prints the mistake if it is not memory of the device.
inline void *find_memory(const char *function, const void *pointer, size_t bytes, bool writes)
{
    void *view = grader_view(pointer, bytes, writes);
    if (!view)
        std::fprintf(stderr, "grader: %s: %p and %zu bytes behind it are not allocated memory\n",
                     function, pointer, bytes);
    return view;
}
