// Breadth-first search: the host repeats launches until a flag on the device stays zero.
#include "check.h"
#include <vector>

__global__ void visit(const int *start, const int *edges, int *level, int current, int *changed,
                      int nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != current)
        return;
    for (int e = start[node]; e < start[node + 1]; ++e)
        if (level[edges[e]] < 0) {
            level[edges[e]] = current + 1;
            *changed = 1;
        }
}

int main()
{
    const int nodes = 3000;
    std::vector<int> start(1, 0), edges, level(nodes, -1);
    for (int n = 0; n < nodes; ++n) {
        edges.push_back((n * 7 + 3) % nodes);
        if (n % 3 == 0)
            edges.push_back((n + 1) % nodes);
        if (n % 5 == 0)
            edges.push_back((n / 2 + 11) % nodes);
        start.push_back(edges.size());
    }
    level[0] = 0;
    int *d_start, *d_edges, *d_level, *d_changed;
    CHECK(cudaMalloc(&d_start, start.size() * 4));
    CHECK(cudaMalloc(&d_edges, edges.size() * 4));
    CHECK(cudaMalloc(&d_level, nodes * 4));
    CHECK(cudaMalloc(&d_changed, 4));
    CHECK(cudaMemcpy(d_start, start.data(), start.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_edges, edges.data(), edges.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_level, level.data(), nodes * 4, cudaMemcpyHostToDevice));
    int changed = 1, current = 0;
    while (changed) {
        CHECK(cudaMemset(d_changed, 0, 4));
        visit<<<(nodes + 127) / 128, 128>>>(d_start, d_edges, d_level, current++, d_changed, nodes);
        CHECK(cudaMemcpy(&changed, d_changed, 4, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaMemcpy(level.data(), d_level, nodes * 4, cudaMemcpyDeviceToHost));
    long reached = 0, sum = 0;
    for (int value : level)
        if (value >= 0)
            ++reached, sum += value;
    printf("levels %d, reached %ld, sum %ld\n", current, reached, sum);
    for (int *p : {d_start, d_edges, d_level, d_changed})
        CHECK(cudaFree(p));
    return 0;
}
