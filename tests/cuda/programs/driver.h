// Ends the program with the call's line and error name if a driver call fails.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda.h>

#define CHECK(call) check((call), #call, __LINE__)

inline const char *name_of(CUresult result)
{
    const char *name = "?";
    cuGetErrorName(result, &name);
    return name;
}

inline void check(CUresult result, const char *call, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("line %d: %s: %s\n", line, call, name_of(result));
    exit(1);
}
