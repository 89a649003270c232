// Softmax of rows with a block per row: maximum, sum of exponentials, division.
#include "check.h"
#include <cfloat>
#include <cmath>
#include <vector>

template <typename Combine> __device__ float reduce(float value, float *tile, Combine combine)
{
    tile[threadIdx.x] = value;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            tile[threadIdx.x] = combine(tile[threadIdx.x], tile[threadIdx.x + step]);
        __syncthreads();
    }
    float result = tile[0];
    __syncthreads();
    return result;
}

__global__ void softmax(const float *x, float *y, int columns)
{
    extern __shared__ float tile[];
    const float *row = x + blockIdx.x * columns;
    float largest = -FLT_MAX, sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        largest = fmaxf(largest, row[i]);
    largest = reduce(largest, tile, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += expf(row[i] - largest);
    sum = reduce(sum, tile, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}

int main()
{
    const int rows = 20, columns = 300, threads = 128;
    std::vector<float> x(rows * columns), y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = 5 * sinf(i * 0.37f);
    float *dx, *dy;
    CHECK(cudaMalloc(&dx, x.size() * 4));
    CHECK(cudaMalloc(&dy, x.size() * 4));
    CHECK(cudaMemcpy(dx, x.data(), x.size() * 4, cudaMemcpyHostToDevice));
    softmax<<<rows, threads, threads * sizeof(float)>>>(dx, dy, columns);
    CHECK(cudaMemcpy(y.data(), dy, x.size() * 4, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int r = 0; r < rows; ++r) {
        double sum = 0, largest = -1e30;
        for (int c = 0; c < columns; ++c)
            largest = fmax(largest, x[r * columns + c]);
        for (int c = 0; c < columns; ++c)
            sum += exp(x[r * columns + c] - largest);
        for (int c = 0; c < columns; ++c)
            wrong += fabs(y[r * columns + c] - exp(x[r * columns + c] - largest) / sum) > 1e-6;
    }
    printf("wrong %d, %.5f %.5f\n", wrong, y[0], y[x.size() - 1]);
    CHECK(cudaFree(dx));
    CHECK(cudaFree(dy));
    return wrong != 0;
}
