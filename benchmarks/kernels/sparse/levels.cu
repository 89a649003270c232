// A level of a breadth-first search: each node of the last level, one in 17, looks at `m` random
// neighbours, and marks those that were not reached before.
// run: --size n=1048576 --size m=8 --input level=small_integers:n:int32 --output y=index:n:int32
// run: --size n=8388608 --size m=16 --input level=small_integers:n:int32 --output y=index:n:int32
// launch: levels<<<n / 256, 256>>>(y, level, n, m, 8)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void levels(int* next, const int* level, unsigned n, int m, int last)
{
    const unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (level[node] != last)
        return;
    for (int k = 0; k < m; k++) {
        const unsigned neighbour = mix(node * m + k) & (n - 1);
        if (level[neighbour] < 0)
            atomicMin(&next[neighbour], last + 1);
    }
}
