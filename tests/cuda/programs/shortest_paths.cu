// All shortest paths (Floyd-Warshall), and the edit distance of two texts by diagonals.
#include "check.h"
#include <cstring>
#include <vector>

__global__ void relax(int *distance, int n, int middle)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n)
        distance[i * n + j] = min(distance[i * n + j],
                                  distance[i * n + middle] + distance[middle * n + j]);
}

__global__ void diagonal(const char *a, const char *b, int *table, int m, int n, int sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = sum - i, width = n + 1;
    if (i > m || j < 1 || j > n)
        return;
    int change = table[(i - 1) * width + j - 1] + (a[i - 1] != b[j - 1]);
    table[i * width + j] = min(change, 1 + min(table[(i - 1) * width + j], table[i * width + j - 1]));
}

int main()
{
    const int n = 50;
    std::vector<int> graph(n * n);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            graph[i * n + j] = i == j ? 0 : (i * 31 + j * 17) % 97 + 1;
    int *x;
    CHECK(cudaMalloc(&x, n * n * sizeof(int)));
    CHECK(cudaMemcpy(x, graph.data(), n * n * sizeof(int), cudaMemcpyHostToDevice));
    for (int middle = 0; middle < n; ++middle)
        relax<<<dim3(4, 7), dim3(16, 8)>>>(x, n, middle);
    CHECK(cudaMemcpy(graph.data(), x, n * n * sizeof(int), cudaMemcpyDeviceToHost));
    long sum = 0;
    for (int value : graph)
        sum += value;
    printf("sum of distances %ld\n", sum);

    const char *a = "the emulated device runs a whole program", *b = "an emulator ran all the programs";
    int la = strlen(a), lb = strlen(b), *table;
    char *da, *db;
    CHECK(cudaMallocManaged(&da, la));
    CHECK(cudaMallocManaged(&db, lb));
    CHECK(cudaMallocManaged(&table, (la + 1) * (lb + 1) * sizeof(int)));
    memcpy(da, a, la);
    memcpy(db, b, lb);
    for (int i = 0; i <= la; ++i)
        table[i * (lb + 1)] = i;
    for (int j = 0; j <= lb; ++j)
        table[j] = j;
    for (int s = 2; s <= la + lb; ++s)
        diagonal<<<1, 64>>>(da, db, table, la, lb, s);
    CHECK(cudaDeviceSynchronize());
    printf("edit distance %d\n", table[(la + 1) * (lb + 1) - 1]);
    for (void *p : {(void *)x, (void *)da, (void *)db, (void *)table})
        CHECK(cudaFree(p));
    return 0;
}
