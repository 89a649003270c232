#include "physics.h"

__constant__ float gravity = 10;
__device__ int bounces;

__device__ void advance(Body &body, float seconds)
{
    body.speed -= gravity * seconds;
    body.position += body.speed * seconds;
    if (body.position < 0) {
        body.position = -body.position;
        body.speed = -body.speed / 2;
        atomicAdd(&bounces, 1);
    }
}
