// Times a reference solution and a library on the same inputs, for the programs of this folder.
//
// Both are launched in turns. Before each launch the output is overwritten and the L2 is flushed, as the grader does. The
// time is the median of ROUNDS launches, by events. `compare` prints a line for compare.py.

#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr int ROUNDS = 41, WARM_UP = 3;
constexpr size_t FLUSHED_BYTES = 256u << 20;  // more than the L2 of any GPU

#define CHECK(call) check_cuda(call, __FILE__, __LINE__)

inline void check_cuda(cudaError_t code, const char* file, int line)
{
    if (code == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(code));
    std::exit(2);
}

inline float median(std::vector<float> values)
{
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
}

template <typename T>
T* to_device(const std::vector<T>& values)
{
    T* data;
    CHECK(cudaMalloc(&data, values.size() * sizeof(T)));
    CHECK(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return data;
}

struct Contest {
    const char* exercise;
    const char* library;
    double bytes;  // that the task has to move
    std::function<void()> launch_reference, launch_library;
};

inline float time_ms(const std::function<void()>& launch)
{
    static void* flushed = nullptr;
    static cudaEvent_t start, stop;
    if (!flushed) {
        CHECK(cudaMalloc(&flushed, FLUSHED_BYTES));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
    }
    float ms;
    CHECK(cudaMemset(flushed, 1, FLUSHED_BYTES));
    CHECK(cudaEventRecord(start));
    launch();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaGetLastError());
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}

// Times both and compares the output `out` of each launch with `expected`: elements may differ by `tolerance`, relative to
// the expected one where this is above 1. Returns the exit code of the program: 1 if an output is wrong.
template <typename T>
int compare(const Contest& contest, T* out, const std::vector<T>& expected, double tolerance = 0)
{
    std::vector<T> got(expected.size());
    std::vector<float> times[2];
    bool right = true;
    for (int round = -WARM_UP; round < ROUNDS; round++)
        for (int which = 0; which < 2; which++) {
            CHECK(cudaMemset(out, 255, got.size() * sizeof(T)));
            const float ms = time_ms(which ? contest.launch_library : contest.launch_reference);
            if (round >= 0) times[which].push_back(ms);
            if (round != 0 && round != ROUNDS - 1) continue;
            CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
            for (size_t i = 0; i < got.size(); i++) {
                const double error = std::abs(double(got[i]) - double(expected[i]));
                right = right && error <= tolerance * std::max(1.0, std::abs(double(expected[i])));
            }
        }
    const double reference = median(times[0]), library = median(times[1]);
    std::printf("%s: reference %.4f ms (%.0f GB/s), %s %.4f ms (%.0f GB/s), ratio %.3f, %s\n", contest.exercise,
                reference, contest.bytes / reference / 1e6, contest.library, library, contest.bytes / library / 1e6,
                library / reference, right ? "right" : "WRONG");
    return right ? 0 : 1;
}
