// `find_last` keeps the larger index by a loop of atomicCAS.
#include <cuda_pipeline.h>

#define TILE 256  // threads of a block, and elements of its tile
#define BINS 16
#define KINDS 64

// The grader launches the kernels by these lines.
//
// launch: example<<<ceil_div(n, TILE), TILE>>>(out, in, n)
// launch reverse: reverse<<<ceil_div(n, TILE), TILE>>>(out, in, n)
// launch subtract: subtract<<<ceil_div(n, TILE), TILE>>>(out, in, n)
// launch mirror: mirror<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
// launch histogram: histogram<<<rows, TILE>>>(counts, in, cols)
// launch smooth: smooth<<<ceil_div(n, TILE), TILE>>>(out, in, n)
// launch last: clear_found<<<1, KINDS>>>(found); find_last<<<ceil_div(n, TILE), TILE>>>(found, in, n)

// Example: out[i] = in[i] + in[i + 1]; the last element has no right neighbour. The bug was an access behind the end of
// `in`: its last element has no neighbour, and the last block has threads without an element.
__global__ void example(float* out, const float* in, int n)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i < n) out[i] = in[i] + (i + 1 < n ? in[i + 1] : 0.0f);
}

// Kernel 1: reverses each tile of TILE elements. The last tile may be shorter.
__global__ void reverse(float* out, const float* in, int n)
{
    __shared__ float tile[TILE];
    int t = threadIdx.x, first = blockIdx.x * TILE, count = min(TILE, n - first);
    if (t < count) tile[t] = in[first + t];
    __syncthreads();
    if (t < count) out[first + t] = tile[count - 1 - t];
}

// Kernel 2: subtracts the sum of the tile from each element of the tile.
__global__ void subtract(float* out, const float* in, int n)
{
    __shared__ float values[TILE];
    int t = threadIdx.x, i = blockIdx.x * TILE + t;
    if (i < n) values[t] = in[i];
    for (int apart = TILE / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if (t < apart && i + apart < n) values[t] += values[t + apart];
    }
    __syncthreads();
    if (i < n) out[i] = in[i] - values[0];
}

// Kernel 3: mirrors each row of a matrix: the first element of a row becomes its last.
__global__ void mirror(float* out, const float* in, int rows, int cols)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && col < cols) out[row * cols + (cols - 1 - col)] = in[row * cols + col];
}

// Kernel 4: counts[row][b] is the number of bytes of the row from 16 b to 16 b + 15. A block counts a row.
__global__ void histogram(int* counts, const unsigned char* in, int cols)
{
    __shared__ int bins[BINS];
    const unsigned char* row = in + (size_t)blockIdx.x * cols;
    if (threadIdx.x < BINS) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int col = threadIdx.x; col < cols; col += TILE) atomicAdd(&bins[row[col] / 16], 1);
    __syncthreads();
    if (threadIdx.x < BINS) counts[blockIdx.x * BINS + threadIdx.x] = bins[threadIdx.x];
}

// Kernel 5: the mean of each element and the next element of its tile; the last is followed by the first. The copy to
// shared memory is asynchronous: it needs no registers, and the thread goes on while the data arrive.
__global__ void smooth(float* out, const float* in, int n)
{
    __shared__ float tile[TILE];
    int t = threadIdx.x, first = blockIdx.x * TILE, count = min(TILE, n - first);
    if (t < count) __pipeline_memcpy_async(&tile[t], &in[first + t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (t < count) out[first + t] = 0.5f * (tile[t] + tile[(t + 1) % count]);
}

// Kernel 6: found[k] is the largest i with in[i] % KINDS == k, or -1. `clear_found` is correct.
__global__ void clear_found(int* found) { found[threadIdx.x] = -1; }

__global__ void find_last(int* found, const int* in, int n)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    if (i >= n) return;
    int* place = &found[in[i] % KINDS];
    int seen = -1;
    while (seen < i) {
        int before = atomicCAS(place, seen, i);
        if (before == seen) break;
        seen = before;
    }
}
