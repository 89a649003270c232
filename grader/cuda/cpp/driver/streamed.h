// For the files that are compiled twice: the default stream of their functions. CUDA's headers
// rename the functions to their variants for per-thread default streams.
#pragma once

#include "driver/driver.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define DEFAULT_STREAM CU_STREAM_PER_THREAD
#else
#define DEFAULT_STREAM CU_STREAM_LEGACY
#endif

// The stream of a handle; null for a bad handle.
static inline CUstream stream_of(CUstream handle) { return find_stream(handle, DEFAULT_STREAM); }

// A handle becomes its stream.
static inline CUresult check_argument(CUstream &handle)
{
    handle = stream_of(handle);
    return handle ? CUDA_SUCCESS : bad_handle;
}
