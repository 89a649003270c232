// Recursion, functions by pointers, memory of the stack, and the heap.
__device__ __noinline__ int walk(int n, int* a)
{
    if (n <= 0) return a[-n & 15];
    return walk(n - 1, a) + 3 * walk(n - 2, a);
}
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int (*table[2])(int, int) = {plus, minus};
__device__ int held[16];

__global__ void recursion(int* y, int* a) { y[threadIdx.x] = walk(threadIdx.x & 7, a); }

__global__ void pointers(int* y, const int* a)
{
    const int i = threadIdx.x;
    y[i] = table[a[i] & 1](i, held[i & 15]);
    atomicAdd(&held[i & 15], y[i]);
}

__global__ void stack(int* y, const int* a)
{
    const int i = threadIdx.x, n = (a[i] & 15) + 1;
    int* room = (int*)alloca(n * sizeof(int));
    for (int k = 0; k < n; ++k) room[k] = a[k] + i;
    for (int k = 1; k < n; ++k) room[k] += room[(k * 7) % n];
    y[i] = room[n - 1];
}

__global__ void heap(int* y, int n)
{
    int* room = new int[(n & 255) + threadIdx.x];
    if (!room) return;
    room[threadIdx.x] = n;
    y[threadIdx.x] = room[threadIdx.x] + 1;
    if (threadIdx.x & 1) delete[] room;
}
