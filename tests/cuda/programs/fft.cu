// A radix-2 FFT with a launch per stage, checked against a known sum of waves.
#include "check.h"
#include <cmath>
#include <vector>

__global__ void reorder(const float2 *from, float2 *to, int bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[__brev(i) >> (32 - bits)] = from[i];
}

__global__ void stage(float2 *x, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int position = i % half, low = i / half * 2 * half + position, high = low + half;
    float sine, cosine;
    sincospif(-(float)position / half, &sine, &cosine);
    float2 a = x[low], b = x[high];
    float2 t = {b.x * cosine - b.y * sine, b.x * sine + b.y * cosine};
    x[low] = {a.x + t.x, a.y + t.y};
    x[high] = {a.x - t.x, a.y - t.y};
}

int main()
{
    const int bits = 10, n = 1 << bits;
    std::vector<float2> signal(n);
    for (int i = 0; i < n; ++i)
        signal[i] = {(float)(3 * cos(2 * M_PI * 5 * i / n) + sin(2 * M_PI * 100 * i / n)), 0};
    float2 *from, *to;
    CHECK(cudaMalloc(&from, n * sizeof(float2)));
    CHECK(cudaMalloc(&to, n * sizeof(float2)));
    CHECK(cudaMemcpy(from, signal.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
    reorder<<<n / 128, 128>>>(from, to, bits);
    for (int half = 1; half < n; half *= 2)
        stage<<<n / 2 / 128, 128>>>(to, half);
    CHECK(cudaMemcpy(signal.data(), to, n * sizeof(float2), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
        float size = hypotf(signal[i].x, signal[i].y) / (n / 2);
        if (size > 0.01f)
            printf("frequency %d: %.3f\n", i, size);
    }
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 0;
}
