// A level of a breadth-first search with a list: eight threads look at the random neighbours of
// each listed node, and put those not reached before at the end of the next list, whose order
// is left to the run.
// run: --size n=1048576 --input x=index:n:int32 --output s=index:n:int32 --output y=index:n:int32
// run: --size n=16777216 --input x=index:n:int32 --output s=index:n:int32 --output y=index:n:int32
// launch: frontier<<<n / 512, 256>>>(y, s, x, n, n / 16)

#define NEIGHBOURS 8

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

// The next list begins behind its length. The first `m` nodes are listed, the others not reached.
__global__ void frontier(int* next, int* state, const int* list, unsigned n, int m)
{
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned node = list[k / NEIGHBOURS];
    const unsigned neighbour = mix(node * NEIGHBOURS + k % NEIGHBOURS) & (n - 1);
    if (atomicExch(&state[neighbour], 0) >= m)
        next[1 + atomicAdd(next, 1)] = neighbour;
}
