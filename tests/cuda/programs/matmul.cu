// Matrix products, simple and tiled, of sizes that the tile does not divide.
#include "check.h"
#include <vector>

const int TILE = 16;

__global__ void simple(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float sa[TILE][TILE], sb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        int i = start + threadIdx.x, j = start + threadIdx.y;
        sa[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0;
        sb[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main()
{
    const int m = 70, n = 50, k = 90;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (int i = 0; i < m * k; ++i)
        a[i] = i % 9 - 4;
    for (int i = 0; i < k * n; ++i)
        b[i] = i % 7 * 0.5f;
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, a.size() * 4));
    CHECK(cudaMalloc(&db, b.size() * 4));
    CHECK(cudaMalloc(&dc, c.size() * 4));
    CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    printf("grid %u %u %u\n", grid.x, grid.y, grid.z);
    for (auto kernel : {simple, tiled}) {
        CHECK(cudaMemset(dc, 0xFF, c.size() * 4));
        kernel<<<grid, block>>>(da, db, dc, m, n, k);
        CHECK(cudaMemcpy(c.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (float value : c)
            sum += value;
        printf("%.2f %.2f %.2f sum %.2f\n", c[0], c[n + 1], c[m * n - 1], sum);
    }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return 0;
}
