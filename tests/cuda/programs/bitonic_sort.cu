// Bitonic sort: one launch per step, and odd-even transposition sort of short rows.
#include "check.h"
#include <algorithm>
#include <vector>

__global__ void bitonic_step(int *x, int j, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ j;
    if (partner <= i)
        return;
    bool ascending = (i & k) == 0;
    if ((x[i] > x[partner]) == ascending) {
        int value = x[i];
        x[i] = x[partner];
        x[partner] = value;
    }
}

__global__ void sort_rows(int *x, int width)
{
    int *row = x + blockIdx.x * width, i = threadIdx.x;
    for (int round = 0; round < width; ++round) {
        int left = 2 * i + (round & 1);
        if (left + 1 < width && row[left] > row[left + 1]) {
            int value = row[left];
            row[left] = row[left + 1];
            row[left + 1] = value;
        }
        __syncthreads();
    }
}

int main()
{
    const int n = 1 << 11;
    std::vector<int> a(n), b(n);
    unsigned state = 3;
    for (int &value : a) {
        state = state * 1664525u + 1013904223u;
        value = state >> 12;
    }
    int *x;
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMemcpy(x, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    sort_rows<<<n / 64, 32>>>(x, 64);
    CHECK(cudaMemcpy(b.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
    int sorted = 0;
    for (int row = 0; row < n / 64; ++row)
        sorted += std::is_sorted(&b[row * 64], &b[row * 64] + 64);
    printf("sorted rows %d\n", sorted);
    int launches = 0;
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2, ++launches)
            bitonic_step<<<n / 256, 256>>>(x, j, k);
    CHECK(cudaMemcpy(b.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(a.begin(), a.end());
    printf("launches %d, equal %d, median %d\n", launches, a == b, b[n / 2]);
    CHECK(cudaFree(x));
    return a != b;
}
