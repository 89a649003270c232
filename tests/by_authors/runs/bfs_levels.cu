// Breadth-first search, level by level: each thread looks at the edges of a vertex of the level.
// launch: bfs_start<<<ceil_div(vertices, 128), 128>>>(levels, vertices, source)
// launch: for (int level = 0; level < depth; level++) {
// launch:     bfs_level<<<ceil_div(vertices, 128), 128>>>(offsets, edges, levels, vertices, level);
// launch: }

__global__ void bfs_start(int* levels, int vertices, int source) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) levels[v] = v == source ? 0 : -1;
}

__global__ void bfs_level(const int* offsets, const int* edges, int* levels, int vertices,
                          int level) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= vertices || levels[v] != level) return;
  for (int e = offsets[v]; e < offsets[v + 1]; ++e) atomicCAS(&levels[edges[e]], -1, level + 1);
}
