// Bodies that attract each other, with tiles of positions in shared memory and float4 data.
#include "check.h"
#include <vector>

__global__ void forces(const float4 *position, float3 *force, int n)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 own = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float3 sum = {0, 0, 0};
    for (int start = 0; start < n; start += blockDim.x) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x; ++k) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1 / sqrtf(square);
            float weight = tile[k].w * inverse * inverse * inverse;
            sum.x += weight * dx;
            sum.y += weight * dy;
            sum.z += weight * dz;
        }
        __syncthreads();
    }
    if (i < n)
        force[i] = sum;
}

__global__ void advance(float4 *position, float3 *speed, const float3 *force, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    speed[i].x += force[i].x * dt;
    speed[i].y += force[i].y * dt;
    speed[i].z += force[i].z * dt;
    position[i].x += speed[i].x * dt;
    position[i].y += speed[i].y * dt;
    position[i].z += speed[i].z * dt;
}

int main()
{
    const int n = 200, block = 64, grid = (n + block - 1) / block;
    std::vector<float4> position(n);
    for (int i = 0; i < n; ++i)
        position[i] = make_float4(i % 6, i / 6 % 6, i / 36, 1 + i % 3);
    float4 *p;
    float3 *speed, *force;
    CHECK(cudaMalloc(&p, n * sizeof(float4)));
    CHECK(cudaMalloc(&speed, n * sizeof(float3)));
    CHECK(cudaMalloc(&force, n * sizeof(float3)));
    CHECK(cudaMemset(speed, 0, n * sizeof(float3)));
    CHECK(cudaMemcpy(p, position.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    for (int step = 0; step < 5; ++step) {
        forces<<<grid, block, block * sizeof(float4)>>>(p, force, n);
        advance<<<grid, block>>>(p, speed, force, 0.001f, n);
    }
    CHECK(cudaMemcpy(position.data(), p, n * sizeof(float4), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i += 50)
        printf("%.3f %.3f %.3f\n", position[i].x, position[i].y, position[i].z);
    CHECK(cudaFree(p));
    CHECK(cudaFree(speed));
    CHECK(cudaFree(force));
    return 0;
}
