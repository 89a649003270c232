// Declarations that the files share.
#pragma once

struct Body {
    float position, speed;
};

extern __constant__ float gravity;
extern __device__ int bounces;

__device__ unsigned next_random(unsigned state);
__device__ void advance(Body &body, float seconds);
