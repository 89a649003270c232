// NVIDIA's package of the compiler does not contain this header.
#pragma once
#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
#ifdef __cplusplus
}
#endif
