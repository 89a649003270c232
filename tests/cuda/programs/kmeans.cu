// k-means: the device assigns points and sums clusters, the host moves the centres.
#include "check.h"
#include <vector>

const int CLUSTERS = 4;
__constant__ float2 centres[CLUSTERS];

__global__ void assign(const float2 *points, int *owner, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = 1e30f;
    for (int c = 0; c < CLUSTERS; ++c) {
        float dx = points[i].x - centres[c].x, dy = points[i].y - centres[c].y;
        float distance = dx * dx + dy * dy;
        if (distance < best) {
            best = distance;
            owner[i] = c;
        }
    }
}

__global__ void sum(const float2 *points, const int *owner, int n, double *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&sums[3 * owner[i]], (double)points[i].x);
    atomicAdd(&sums[3 * owner[i] + 1], (double)points[i].y);
    atomicAdd(&sums[3 * owner[i] + 2], 1.0);
}

int main()
{
    const int n = 2000;
    std::vector<float2> points(n);
    for (int i = 0; i < n; ++i)
        points[i] = make_float2(10 * (i % 4 / 2) + i * 13 % 64 / 32.0f,
                                8 * (i % 2) + i * 29 % 64 / 64.0f);
    float2 host_centres[CLUSTERS] = {{0, 0}, {1, 9}, {9, 1}, {12, 12}}, *x;
    int *owner;
    double *sums, host[3 * CLUSTERS];
    CHECK(cudaMalloc(&x, n * sizeof(float2)));
    CHECK(cudaMalloc(&owner, n * sizeof(int)));
    CHECK(cudaMalloc(&sums, sizeof(host)));
    CHECK(cudaMemcpy(x, points.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
    for (int round = 0; round < 5; ++round) {
        CHECK(cudaMemcpyToSymbol(centres, host_centres, sizeof(host_centres)));
        CHECK(cudaMemset(sums, 0, sizeof(host)));
        assign<<<(n + 255) / 256, 256>>>(x, owner, n);
        sum<<<(n + 255) / 256, 256>>>(x, owner, n, sums);
        CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
        for (int c = 0; c < CLUSTERS; ++c)
            host_centres[c] = make_float2(host[3 * c] / host[3 * c + 2],
                                          host[3 * c + 1] / host[3 * c + 2]);
    }
    for (int c = 0; c < CLUSTERS; ++c)
        printf("%.4f %.4f: %.0f points\n", host_centres[c].x, host_centres[c].y, host[3 * c + 2]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(owner));
    CHECK(cudaFree(sums));
    return 0;
}
