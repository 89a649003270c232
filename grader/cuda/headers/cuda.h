// The toolkit's header, and forms of functions that CUDA 13 removed.
#ifndef GRADER_CUDA_H
#define GRADER_CUDA_H
#include "toolkit/cuda.h"

#if defined(__cplusplus) && CUDA_VERSION >= 13000
inline CUresult cuCtxCreate(CUcontext *context, unsigned flags, CUdevice device)
{
    return cuCtxCreate(context, static_cast<CUctxCreateParams *>(nullptr), flags, device);
}
#endif
#endif
