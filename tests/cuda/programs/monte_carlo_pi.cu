// Pi by random points; each thread has its own xorshift generator, the sum uses atomics.
#include "check.h"

__global__ void seed(unsigned *states, unsigned base)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = base + 0x9E3779B9u * (i + 1);
    s ^= s >> 16;
    s *= 0x85EBCA6Bu;
    s ^= s >> 13;
    states[i] = s | 1;
}

__device__ float uniform(unsigned &state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state * (1.0f / 4294967296.0f);
}

__global__ void throw_points(unsigned *states, int points, unsigned long long *inside)
{
    __shared__ unsigned block_count;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = states[i], count = 0;
    if (threadIdx.x == 0)
        block_count = 0;
    __syncthreads();
    for (int k = 0; k < points; ++k) {
        float x = uniform(state), y = uniform(state);
        count += x * x + y * y < 1;
    }
    states[i] = state;
    atomicAdd(&block_count, count);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(inside, (unsigned long long)block_count);
}

int main()
{
    const int blocks = 16, threads = 128, points = 100, rounds = 2;
    unsigned *states;
    unsigned long long *inside, host = 0;
    CHECK(cudaMalloc(&states, blocks * threads * sizeof(unsigned)));
    CHECK(cudaMalloc(&inside, sizeof(host)));
    CHECK(cudaMemset(inside, 0, sizeof(host)));
    seed<<<blocks, threads>>>(states, 2024);
    for (int round = 0; round < rounds; ++round)
        throw_points<<<blocks, threads>>>(states, points, inside);
    CHECK(cudaMemcpy(&host, inside, sizeof(host), cudaMemcpyDeviceToHost));
    double pi = 4.0 * host / ((double)blocks * threads * points * rounds);
    printf("inside %llu, pi %.5f\n", host, pi);
    CHECK(cudaFree(states));
    CHECK(cudaFree(inside));
    return pi < 3.1 || pi > 3.2;
}
