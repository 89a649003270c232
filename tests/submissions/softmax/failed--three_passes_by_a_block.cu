// A block per row with trees in shared memory, in three passes.
#include <cfloat>
#define THREADS 256
#define WARPS (THREADS / 32)
// launch: softmax<<<rows, THREADS>>>(out, in, rows, cols)

__device__ float tree(float value, bool add)
{
    __shared__ float values[THREADS];
    __syncthreads();  // the values of the previous call have been read
    values[threadIdx.x] = value;
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        __syncthreads();
        if (threadIdx.x < apart) {
            float other = values[threadIdx.x + apart];
            values[threadIdx.x] = add ? values[threadIdx.x] + other : fmaxf(values[threadIdx.x], other);
        }
    }
    __syncthreads();
    return values[0];
}

__global__ void softmax(float* out, const float* in, int rows, int cols)
{
    const float* x = in + (size_t)blockIdx.x * cols;
    float* y = out + (size_t)blockIdx.x * cols;
    float highest = -FLT_MAX, sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += THREADS) highest = fmaxf(highest, x[col]);
    highest = tree(highest, false);
    for (int col = threadIdx.x; col < cols; col += THREADS) sum += expf(x[col] - highest);
    sum = tree(sum, true);
    for (int col = threadIdx.x; col < cols; col += THREADS) y[col] = expf(x[col] - highest) / sum;
}
