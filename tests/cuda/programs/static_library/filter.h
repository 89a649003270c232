// A library of filters; `window` is defined in another file than the kernel that calls it.
#pragma once

#ifdef __CUDACC__
__device__ float window(int position, int length);
#endif

void smooth(const float *from, float *to, int n, int length);
