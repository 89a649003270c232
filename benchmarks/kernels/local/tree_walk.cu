// A walk down a binary tree with a stack of its own: a thread visits the children of large nodes.
// run: --size n=65536 --size nodes=65535 --input tree=normal:nodes --output y=int32:n
// run: --size n=262144 --size nodes=1048575 --input tree=normal:nodes --output y=int32:n
// launch: tree_walk<<<n / 128, 128>>>(y, tree, nodes)

#define DEPTH 24

__global__ void tree_walk(int* y, const float* tree, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, stack[DEPTH], top = 0, visited = 0;
    stack[top++] = i % 1023;
    while (top > 0) {
        int node = stack[--top];
        visited++;
        if (tree[node] < -0.25f || 2 * node + 2 >= nodes || top + 2 > DEPTH) continue;
        stack[top++] = 2 * node + 2;
        stack[top++] = 2 * node + 1;
    }
    y[i] = visited;
}
