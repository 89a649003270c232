// Whole-program test of -rdc=true: calls and variables cross the borders of files.
#include "physics.h"
#include <cstdio>
#include <vector>

__global__ void simulate(Body *bodies, int steps)
{
    Body &body = bodies[threadIdx.x];
    unsigned state = threadIdx.x;
    for (int i = 0; i < steps; ++i) {
        state = next_random(state);
        advance(body, state >> 31 ? 0.125f : 0.25f);
    }
}

int main()
{
    std::vector<Body> bodies(32);
    for (int i = 0; i < 32; ++i)
        bodies[i] = {i * 0.5f, 0};
    Body *device;
    cudaMalloc(&device, 32 * sizeof(Body));
    cudaMemcpy(device, bodies.data(), 32 * sizeof(Body), cudaMemcpyHostToDevice);
    simulate<<<1, 32>>>(device, 20);
    float weak = 2.5f;
    cudaMemcpyToSymbol(gravity, &weak, sizeof(weak));
    simulate<<<1, 32>>>(device, 4);
    cudaMemcpy(bodies.data(), device, 32 * sizeof(Body), cudaMemcpyDeviceToHost);
    int count = -1;
    cudaMemcpyFromSymbol(&count, bounces, sizeof(count));
    cudaFree(device);
    printf("bounces %d\n", count);
    for (int i = 0; i < 32; i += 5)
        printf("%d: %.4f %.4f\n", i, bodies[i].position, bodies[i].speed);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return count == 0;
}
