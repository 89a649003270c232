// NVIDIA's package of the compiler does not contain this header.
#pragma once
#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif
typedef enum CUoutput_mode_enum {
    CU_OUT_KEY_VALUE_PAIR = 0,
    CU_OUT_CSV = 1
} CUoutput_mode;

CUresult cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode mode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);
#ifdef __cplusplus
}
#endif
