// Connected components: trees are hooked onto smaller roots, and paths are shortened.
// run: --size vertices=65536 --size count=65536 --input from=permutation:count:int32 --input to=index:count:int32 --output parent=int32:vertices
// run: --size vertices=1048576 --size count=1048576 --input from=permutation:count:int32 --input to=index:count:int32 --output parent=int32:vertices
// launch: init<<<ceil_div(vertices, 128), 128>>>(parent, vertices)
// launch: hook<<<ceil_div(count, 128), 128>>>(parent, from, to, count)
// launch: flatten<<<ceil_div(vertices, 128), 128>>>(parent, vertices)

__global__ void init(int* parent, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) parent[v] = v;
}

__device__ int root_of(volatile int* parent, int v) {
  while (parent[v] != v) v = parent[v];
  return v;
}

__global__ void hook(int* parent, const int* from, const int* to, int count) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= count) return;
  int a = from[e], b = to[e];
  while (true) {
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a == b) return;
    int high = max(a, b), low = min(a, b);
    if (atomicCAS(&parent[high], high, low) == high) return;
  }
}

__global__ void flatten(int* parent, int vertices) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < vertices) atomicExch(&parent[v], root_of(parent, v));
}
