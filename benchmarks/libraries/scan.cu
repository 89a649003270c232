// Compares the reference of the exercise "scan", with the fill of its states, with cub::DeviceScan::InclusiveSum.

#include <cub/device/device_scan.cuh>

#include "../../solutions/scan.cu"
#include "harness.cuh"

int main()
{
    const int n = 33554432, count = (n + TILE - 1) / TILE;
    std::vector<int> numbers(n), expected(n);
    unsigned state = 1, sum = 0;
    for (int i = 0; i < n; i++) {
        numbers[i] = int(state = state * 1664525u + 1013904223u);
        expected[i] = int(sum += state);
    }
    int *in = to_device(numbers), *out = to_device(numbers);
    unsigned long long* tiles = to_device(std::vector<unsigned long long>(count + 1));
    size_t bytes = 0;
    CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n));
    void* storage = to_device(std::vector<char>(bytes));
    return compare({"scan", "CUB", 8.0 * n,
                    [&] {
                        CHECK(cudaMemsetAsync(tiles, 0, (count + 1) * 8));
                        scan<<<count, THREADS>>>(out, tiles, in, n);
                    },
                    [&] { CHECK(cub::DeviceScan::InclusiveSum(storage, bytes, in, out, n)); }},
                   out, expected);
}
