// An exclusive scan of any length: blocks of 512, a scan of their sums, and an addition.
#include "check.h"
#include <vector>

const int BLOCK = 256, ITEMS = 2 * BLOCK;

__global__ void scan_blocks(const int *from, int *to, int *sums, int n)
{
    __shared__ int tile[ITEMS];
    int t = threadIdx.x, base = blockIdx.x * ITEMS;
    tile[2 * t] = base + 2 * t < n ? from[base + 2 * t] : 0;
    tile[2 * t + 1] = base + 2 * t + 1 < n ? from[base + 2 * t + 1] : 0;
    int stride = 1;
    for (int d = BLOCK; d > 0; d /= 2, stride *= 2) {
        __syncthreads();
        if (t < d)
            tile[stride * (2 * t + 2) - 1] += tile[stride * (2 * t + 1) - 1];
    }
    if (t == 0) {
        sums[blockIdx.x] = tile[ITEMS - 1];
        tile[ITEMS - 1] = 0;
    }
    for (int d = 1; d <= BLOCK; d *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < d) {
            int left = stride * (2 * t + 1) - 1, right = stride * (2 * t + 2) - 1;
            int value = tile[left];
            tile[left] = tile[right];
            tile[right] += value;
        }
    }
    __syncthreads();
    for (int i = t; i < ITEMS; i += BLOCK)
        if (base + i < n)
            to[base + i] = tile[i];
}

__global__ void add_sums(int *x, const int *sums, int n)
{
    for (int i = threadIdx.x; i < ITEMS; i += BLOCK)
        if (blockIdx.x * ITEMS + i < n)
            x[blockIdx.x * ITEMS + i] += sums[blockIdx.x];
}

void scan(const int *from, int *to, int n)
{
    int blocks = (n + ITEMS - 1) / ITEMS, *sums, *scanned;
    CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
    CHECK(cudaMalloc(&scanned, blocks * sizeof(int)));
    scan_blocks<<<blocks, BLOCK>>>(from, to, sums, n);
    if (blocks > 1) {
        scan(sums, scanned, blocks);
        add_sums<<<blocks, BLOCK>>>(to, scanned, n);
    }
    CHECK(cudaFree(sums));
    CHECK(cudaFree(scanned));
}

int main()
{
    int failures = 0;
    for (int n : {1, 512, 513, 10007, 300000}) {
        std::vector<int> a(n), b(n);
        for (int i = 0; i < n; ++i)
            a[i] = i * 7 % 11 - 3;
        int *x, *y, sum = 0, wrong = 0;
        CHECK(cudaMalloc(&x, n * sizeof(int)));
        CHECK(cudaMalloc(&y, n * sizeof(int)));
        CHECK(cudaMemcpy(x, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
        scan(x, y, n);
        CHECK(cudaMemcpy(b.data(), y, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; ++i) {
            wrong += b[i] != sum;
            sum += a[i];
        }
        printf("n %d: last %d, wrong %d\n", n, b[n - 1], wrong);
        failures += wrong > 0;
        CHECK(cudaFree(x));
        CHECK(cudaFree(y));
    }
    return failures;
}
