// CUB's device-wide functions with temporary storage: reduce, scan, radix sort, histogram, select.
// nvcc: --extended-lambda
#include "check.h"
#include <cub/cub.cuh>
#include <vector>

void *storage = nullptr;
size_t storage_bytes = 0;

template <typename Action> void run(Action action)
{
    size_t bytes = 0;
    CHECK(action(nullptr, bytes));
    if (bytes > storage_bytes) {
        CHECK(cudaFree(storage));
        CHECK(cudaMalloc(&storage, bytes));
        storage_bytes = bytes;
    }
    CHECK(action(storage, bytes));
}

int main()
{
    const int n = 5000, bins = 8;
    unsigned *x, *y, *sum;
    int *histogram, *count;
    CHECK(cudaMallocManaged(&x, n * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&y, n * sizeof(unsigned)));
    CHECK(cudaMallocManaged(&sum, sizeof(unsigned)));
    CHECK(cudaMallocManaged(&histogram, bins * sizeof(int)));
    CHECK(cudaMallocManaged(&count, sizeof(int)));
    unsigned state = 7;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        x[i] = state >> 16;
    }
    run([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, x, sum, n); });
    CHECK(cudaDeviceSynchronize());
    printf("sum %u\n", *sum);
    run([&](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, x, y, n); });
    CHECK(cudaDeviceSynchronize());
    printf("scan %u %u %u\n", y[0], y[1], y[n - 1]);
    run([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys(s, b, x, y, n); });
    CHECK(cudaDeviceSynchronize());
    int descents = 0;
    for (int i = 1; i < n; ++i)
        descents += y[i] < y[i - 1];
    printf("sorted: %u to %u, descents %d\n", y[0], y[n - 1], descents);
    run([&](void *s, size_t &b) {
        return cub::DeviceHistogram::HistogramEven(s, b, x, histogram, bins + 1, 0, 65536, n);
    });
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < bins; ++i)
        printf("%d ", histogram[i]);
    printf("\n");
    auto small = [] __host__ __device__(unsigned v) { return v < 1000; };
    run([&](void *s, size_t &b) { return cub::DeviceSelect::If(s, b, x, y, count, n, small); });
    CHECK(cudaDeviceSynchronize());
    printf("small %d, first %u\n", *count, y[0]);
    for (void *memory : {(void *)x, (void *)y, (void *)sum, (void *)histogram, (void *)count, storage})
        CHECK(cudaFree(memory));
    return 0;
}
