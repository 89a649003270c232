// Ends the program with the call's line and error name if a call fails.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) check((call), #call, __LINE__)

inline void check(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, call, cudaGetErrorName(error));
    exit(1);
}
