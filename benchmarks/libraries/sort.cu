// Compares the reference of the exercise "sort", with the fill of its states, with cub::DeviceRadixSort::SortKeys: both sort
// random keys of 32 bits by all bits, leave their input as it is, and have scratch memory that was allocated before. Both
// move the keys in four passes of 8 bits. The bytes are those that four passes and a count of the digits have to move.
//
// A line for the size at which the grader times, and a line for a size that fills the GPU.

#include <cub/device/device_radix_sort.cuh>

#include "../../solutions/sort.cu"
#include "harness.cuh"

int compare_at(const char* name, int n)
{
    const int tiles = (n + TILE - 1) / TILE;
    std::vector<unsigned> keys(n);
    unsigned state = 1;
    for (unsigned& key : keys) {
        state = state * 1664525u + 1013904223u;
        key = (state ^ state >> 16) * 0x7feb352du;
    }
    unsigned *in = to_device(keys), *other = to_device(keys), *out = to_device(keys);
    unsigned* states = to_device(std::vector<unsigned>(ENTRIES + 4 * DIGITS * tiles));
    std::sort(keys.begin(), keys.end());
    size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n));
    void* storage = to_device(std::vector<char>(bytes));
    const int code = compare({name, "CUB", 36.0 * n,
                              [&] {
                                  CHECK(cudaMemsetAsync(states, 0, (ENTRIES + 4 * DIGITS * tiles) * sizeof(unsigned)));
                                  count_digits<<<std::min(tiles, 1056), THREADS>>>(states, in, n);
                                  scan_digits<<<4, DIGITS>>>(states);
                                  for (int pass = 0; pass < 4; pass++)
                                      sort_by_digit<<<tiles, THREADS>>>(pass % 2 ? out : other, states,
                                                                        pass == 0 ? in : pass % 2 ? other : out, n, pass);
                              },
                              [&] { CHECK(cub::DeviceRadixSort::SortKeys(storage, bytes, in, out, n)); }},
                             out, keys);
    for (void* each : {static_cast<void*>(in), static_cast<void*>(other), static_cast<void*>(out),
                       static_cast<void*>(states), storage})
        CHECK(cudaFree(each));
    return code;
}

int main()
{
    const int timed = compare_at("sort of 1048576 keys", 1048576);
    return timed | compare_at("sort of 33554432 keys", 33554432);
}
