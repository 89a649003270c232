// Sparse matrix times vector: CSR with a thread or a warp per row, ELL, COO with atomics.
#include "check.h"
#include <vector>

__global__ void csr_thread(const int *start, const int *column, const float *value, const float *x,
                           float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; ++i)
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

__global__ void csr_warp(const int *start, const int *column, const float *value, const float *x,
                         float *y, int rows)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = start[row] + threadIdx.x; i < start[row + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x == 0)
        y[row] = sum;
}

__global__ void coo(const int *row, const int *column, const float *value, const float *x, float *y,
                    int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

template <typename T> T *upload(const std::vector<T> &host)
{
    T *device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

int main()
{
    const int rows = 500;
    std::vector<int> start(1, 0), row, column;
    std::vector<float> value, x(rows), y(rows);
    for (int r = 0; r < rows; ++r) {
        x[r] = r % 10;
        for (int c = r % 17; c < rows; c += 13 + r % 50) {
            row.push_back(r);
            column.push_back(c);
            value.push_back(0.5f * ((r + c) % 8));
        }
        start.push_back(column.size());
    }
    int *d_start = upload(start), *d_row = upload(row), *d_column = upload(column);
    float *d_value = upload(value), *d_x = upload(x), *d_y = upload(y);
    auto report = [&](const char *name) {
        CHECK(cudaMemcpy(y.data(), d_y, rows * 4, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (float v : y)
            sum += v;
        printf("%s: %.1f %.1f sum %.1f\n", name, y[0], y[rows - 1], sum);
        CHECK(cudaMemset(d_y, 0, rows * 4));
    };
    csr_thread<<<4, 128>>>(d_start, d_column, d_value, d_x, d_y, rows);
    report("thread per row");
    csr_warp<<<(rows + 3) / 4, dim3(32, 4)>>>(d_start, d_column, d_value, d_x, d_y, rows);
    report("warp per row");
    int count = value.size();
    coo<<<(count + 255) / 256, 256>>>(d_row, d_column, d_value, d_x, d_y, count);
    report("coordinates");
    for (void *p : {(void *)d_start, (void *)d_row, (void *)d_column, (void *)d_value, (void *)d_x,
                    (void *)d_y})
        CHECK(cudaFree(p));
    return 0;
}
