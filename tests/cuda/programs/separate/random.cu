#include "physics.h"

__device__ unsigned next_random(unsigned state)
{
    return state * 1664525u + 1013904223u;
}
