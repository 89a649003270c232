// Small kernels with one mistake each, for `grade explain`. Each has the name of its cause; most of them transpose a matrix of
// 24 x 24 floats in tiles of 8 x 8. The first comment line of a kernel is its title, and its launch line runs it.

#include <cuda_pipeline.h>

#define N 24
#define TILE 8

// One element in five is larger than it should be.
// launch: wrong_values<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void wrong_values(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    float wrong = (3 * x + 7 * y + x * y) % 5 == 0;
    out[N * x + y] = in[N * y + x] + 0.5f * wrong;
}

// The launch line passes the output as the input.
// launch: arguments_exchanged<<<dim3(3, 3), dim3(8, 8)>>>(out, in)
__global__ void arguments_exchanged(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    out[N * x + y] = in[N * y + x];
}

// No thread passes the condition.
// launch: never_written<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void never_written(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    if (x > N)
        out[N * x + y] = in[N * y + x];
}

// Each thread copies one element where it should copy two.
// launch: partly_written<<<dim3(3, 3), dim3(8, 4)>>>(in, out)
__global__ void partly_written(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + 2 * threadIdx.y + 1;
    out[N * x + y] = in[N * y + x];
}

// The same index for the load and the store.
// launch: untransposed<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void untransposed(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    out[N * y + x] = in[N * y + x];
}

// The block writes its tile where it has read it.
// launch: blocks_unswapped<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void blocks_unswapped(const float *in, float *out) {
    __shared__ float tile[TILE][TILE + 1];
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[N * y + x];
    __syncthreads();
    out[N * y + x] = tile[threadIdx.x][threadIdx.y];
}

// The tile is stored by rows, as it was loaded.
// launch: tiles_in_place<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void tiles_in_place(const float *in, float *out) {
    int x = TILE * blockIdx.x, y = TILE * blockIdx.y;
    out[N * (x + threadIdx.y) + y + threadIdx.x] =
        in[N * (y + threadIdx.y) + x + threadIdx.x];
}

// Each element comes from the place behind its own.
// launch: index_off_by_one<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void index_off_by_one(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    int row = min(y + 1, N - 1);
    out[N * x + y] = in[N * row + x];
}

// The load takes blockIdx.x for the row, too: right on the diagonal only.
// launch: off_diagonal<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void off_diagonal(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    int row = TILE * blockIdx.x + threadIdx.y;
    out[N * x + y] = in[N * row + x];
}

// A grid of 24 / 16 = 1 block: rounded down.
// launch: edge<<<1, dim3(16, 16)>>>(in, out)
__global__ void edge(const float *in, float *out) {
    int x = 16 * blockIdx.x + threadIdx.x;
    int y = 16 * blockIdx.y + threadIdx.y;
    if (x < N && y < N)
        out[N * x + y] = in[N * y + x];
}

// Half of the tile stays 0.
// launch: zeros<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void zeros(const float *in, float *out) {
    __shared__ float tile[TILE][TILE + 1];
    int x = TILE * blockIdx.x, y = TILE * blockIdx.y;
    tile[threadIdx.y][threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.y >= TILE / 2)
        tile[threadIdx.y][threadIdx.x] =
            in[N * (y + threadIdx.y) + x + threadIdx.x];
    __syncthreads();
    out[N * (x + threadIdx.y) + y + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y];
}

// A division by zero in every third column.
// launch: not_finite<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void not_finite(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    float zero = x % 3 == 0 ? 0 : 1;
    out[N * x + y] = in[N * y + x] / zero;
}

// The sum starts at 0.5, not at 0.
// launch: all_wrong<<<dim3(3, 3), dim3(8, 8)>>>(in, out)
__global__ void all_wrong(const float *in, float *out) {
    int x = TILE * blockIdx.x + threadIdx.x;
    int y = TILE * blockIdx.y + threadIdx.y;
    out[N * x + y] = 0.5f + in[N * y + x];
}

// The last thread reads behind the end.
// launch: out_of_bounds<<<1, 24>>>(in, out)
__global__ void out_of_bounds(const float *in, float *out) {
    int i = N * (N - 1) + threadIdx.x;
    out[i] = in[i + 1] - in[i];
}

// A float2 from an odd place.
// launch: misaligned<<<1, 8>>>(in, out)
__global__ void misaligned(const float *in, float *out) {
    float2 pair = *(const float2 *)&in[2 * threadIdx.x + 1];
    out[threadIdx.x] = pair.x + pair.y;
}

// Half of the threads skip the barrier.
// launch: barrier_divergence<<<1, 64>>>(in, out)
__global__ void barrier_divergence(const float *in, float *out) {
    __shared__ float row[64];
    row[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 48) {
        __syncthreads();
        row[threadIdx.x] += 1;
    }
    out[threadIdx.x] = row[threadIdx.x];
}

// The thread that would set the flag waits for it, too.
// launch: endless_wait<<<1, 32>>>(in, out, flag)
__global__ void endless_wait(
    const float *in, float *out, volatile int *flag) {
    while (flag[0] == 0) { }
    if (threadIdx.x == 0)
        flag[0] = 1;
    out[threadIdx.x] = in[threadIdx.x];
}

// The counter never reaches its bound.
// launch: instruction_limit<<<1, 32>>>(in, out)
__global__ void instruction_limit(const float *in, float *out) {
    float sum = 0;
    for (unsigned i = 23; i >= 0; --i)
        sum += in[i % N];
    out[threadIdx.x] = sum;
}

// A condition that the kernel itself checks does not hold.
// launch: trap<<<1, 32>>>(in, out)
__global__ void trap(const float *in, float *out) {
    if (in[threadIdx.x] > 7)
        __trap();
    out[threadIdx.x] = in[threadIdx.x];
}

// The kernel clears its input.
// launch: input_modified<<<1, 24>>>(in, out)
__global__ void input_modified(float *in, float *out) {
    for (int row = 0; row < N; ++row) {
        out[N * threadIdx.x + row] = in[N * row + threadIdx.x];
        in[N * row + threadIdx.x] = 0;
    }
}

// The barrier between the store and the load is missing.
// launch: race<<<1, dim3(16, 16)>>>(in, out)
__global__ void race(const float *in, float *out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[N * y + x];
    out[N * y + x] = tile[x][y];
}

// The sum has no first value.
// launch: uninitialized_read<<<1, 32>>>(in, out)
__global__ void uninitialized_read(const float *in, float *out) {
    out[threadIdx.x] += in[threadIdx.x];
}

// The copy is not waited for.
// launch: copy_under_way<<<1, 32>>>(in, out)
__global__ void copy_under_way(const float *in, float *out) {
    __shared__ float row[32];
    __pipeline_memcpy_async(&row[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = row[31 - threadIdx.x];
}

// The mask names 32 lanes, and 16 arrive.
// launch: absent_lanes<<<1, 32>>>(in, out)
__global__ void absent_lanes(const float *in, float *out) {
    float value = in[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int i = 0; i < value; ++i)
            value += 0.5f;
        value += __shfl_down_sync(0xffffffffu, value, 8);
    } else {
        for (int i = 0; i < value; ++i)
            value += 0.25f;
    }
    out[threadIdx.x] = value;
}
