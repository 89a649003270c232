// Heat on a plate: a stencil with shared memory, two buffers that are swapped, many launches.
#include "check.h"
#include <utility>
#include <vector>

const int SIDE = 64, TILE = 16;

__global__ void step(const float *from, float *to)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    auto load = [&](int dx, int dy) {
        int cx = min(max(x + dx, 0), SIDE - 1), cy = min(max(y + dy, 0), SIDE - 1);
        tile[threadIdx.y + 1 + dy][threadIdx.x + 1 + dx] = from[cy * SIDE + cx];
    };
    load(0, 0);
    if (threadIdx.x == 0)
        load(-1, 0);
    if (threadIdx.x == TILE - 1)
        load(1, 0);
    if (threadIdx.y == 0)
        load(0, -1);
    if (threadIdx.y == TILE - 1)
        load(0, 1);
    __syncthreads();
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    float around = tile[i - 1][j] + tile[i + 1][j] + tile[i][j - 1] + tile[i][j + 1];
    to[y * SIDE + x] = tile[i][j] + 0.2f * (around - 4 * tile[i][j]);
}

int main()
{
    std::vector<float> plate(SIDE * SIDE, 0.0f);
    for (int y = 20; y < 30; ++y)
        for (int x = 10; x < 40; ++x)
            plate[y * SIDE + x] = 100;
    float *a, *b;
    CHECK(cudaMalloc(&a, plate.size() * 4));
    CHECK(cudaMalloc(&b, plate.size() * 4));
    CHECK(cudaMemcpy(a, plate.data(), plate.size() * 4, cudaMemcpyHostToDevice));
    for (int i = 0; i < 60; ++i) {
        step<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(a, b);
        std::swap(a, b);
    }
    CHECK(cudaMemcpy(plate.data(), a, plate.size() * 4, cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float value : plate)
        sum += value;
    printf("heat %.1f, centre %.4f, corner %.4f\n", sum, plate[25 * SIDE + 25], plate[0]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
