// Compares the reference of the exercise "histogram" with cub::DeviceHistogram::HistogramEven.

#include <cub/device/device_histogram.cuh>

#include "../../solutions/histogram.cu"
#include "harness.cuh"

int main()
{
    const int n = 100663296;
    std::vector<int> values(n), expected(BINS);
    unsigned state = 1;
    for (int& value : values) {  // as the exercise draws them: a quarter is 255
        state = state * 1664525u + 1013904223u;
        value = state >> 30 ? state >> 16 & 255 : 255;
        expected[value]++;
    }
    const int* in = to_device(values);
    int* counts = to_device(expected);
    void* storage = nullptr;
    size_t storage_bytes = 0;
    const auto library = [&] {
        CHECK(cub::DeviceHistogram::HistogramEven(storage, storage_bytes, in, counts, BINS + 1, 0, BINS, n));
    };
    library();
    CHECK(cudaMalloc(&storage, storage_bytes));
    return compare({"histogram", "CUB HistogramEven", 4.0 * n,
                    [&] {
                        CHECK(cudaMemsetAsync(counts, 0, BINS * sizeof(int)));
                        histogram<<<BLOCKS, THREADS>>>(counts, in, n);
                    },
                    library},
                   counts, expected);
}
