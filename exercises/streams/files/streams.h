// The functions that you write, and the kernel that they launch.
#pragma once
#include <cstddef>

// Threads of a block, and signals of a group.
constexpr int GROUP = 128;

// Host memory for `count` floats, which main() fills or reads.
float *allocate_signals(size_t count);
void release_signals(float *signals);

// Smooths all signals of `in` into `out`, both on the host. They are complete when it returns.
//
// A group of GROUP signals is contiguous: sample t of its signal s is element t * GROUP + s. Group
// g begins at element g * samples * GROUP.
void smooth_all(float *out, const float *in, int groups, int samples, float rate);
