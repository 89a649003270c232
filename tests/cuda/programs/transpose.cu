// Matrix transposition: simple, with shared memory, with padding; times by events are only positive.
#include "check.h"
#include <vector>

const int TILE = 32, ROWS = 8;

__global__ void simple(const float *from, float *to, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        to[x * n + y + j] = from[(y + j) * n + x];
}

template <int PADDING> __global__ void shared(const float *from, float *to, int n)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = from[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        to[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int n = 256;
    std::vector<float> a(n * n), b(n * n);
    for (int i = 0; i < n * n; ++i)
        a[i] = i;
    float *x, *y;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaMalloc(&x, n * n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * n * sizeof(float)));
    CHECK(cudaMemcpy(x, a.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    struct {
        const char *name;
        void (*kernel)(const float *, float *, int);
    } rows[] = {{"simple", simple}, {"shared", shared<0>}, {"padded", shared<1>}};
    int failures = 0;
    for (auto &row : rows) {
        CHECK(cudaMemset(y, 0, n * n * sizeof(float)));
        CHECK(cudaEventRecord(start));
        row.kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(x, y, n);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        CHECK(cudaMemcpy(b.data(), y, n * n * sizeof(float), cudaMemcpyDeviceToHost));
        int wrong = 0;
        for (int i = 0; i < n * n; ++i)
            wrong += b[i] != a[i % n * n + i / n];
        printf("%s: wrong %d, time positive %d\n", row.name, wrong, ms > 0);
        failures += wrong > 0;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return failures;
}
