// The kernel: one block for each group, one thread for each signal.
#pragma once
#include "streams.h"

constexpr int STAGES = 32;

// A cascade of low-pass filters. `in` and `out` begin with the first group of this launch.
// Launch it as smooth<<<groups, GROUP, 0, stream>>>(out, in, samples, rate).
static __global__ void smooth(float *out, const float *in, int samples, float rate)
{
    size_t at = (size_t)blockIdx.x * samples * GROUP + threadIdx.x;
    float state[STAGES] = {};
    for (int t = 0; t < samples; ++t, at += GROUP) {
        float value = in[at];
#pragma unroll
        for (int stage = 0; stage < STAGES; ++stage)
            value = state[stage] = fmaf(rate, value - state[stage], state[stage]);
        out[at] = value;
    }
}
