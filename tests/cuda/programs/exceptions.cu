// Host C++: errors become exceptions, memory belongs to unique_ptr, lambdas for host and device.
// nvcc: -std=c++17 --extended-lambda
#include <cstdio>
#include <cuda_runtime.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

void require(cudaError_t error)
{
    if (error != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(error));
}

struct Free {
    void operator()(void *memory) const { cudaFree(memory); }
};

template <typename T> std::unique_ptr<T[], Free> allocate(size_t count)
{
    T *memory = nullptr;
    require(cudaMalloc(&memory, count * sizeof(T)));
    return std::unique_ptr<T[], Free>(memory);
}

template <typename Function> __global__ void apply(double *x, int n, Function function)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = function(x[i], i);
}

int main()
{
    const int n = 1000;
    std::vector<double> host(n, 2);
    auto x = allocate<double>(n);
    require(cudaMemcpy(x.get(), host.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    double factor = 1.5;
    auto scale = [=] __host__ __device__(double value, int i) { return value * factor + i; };
    apply<<<(n + 255) / 256, 256>>>(x.get(), n, scale);
    apply<<<(n + 255) / 256, 256>>>(x.get(), n, [] __device__(double v, int) { return v * v; });
    require(cudaMemcpy(host.data(), x.get(), n * sizeof(double), cudaMemcpyDeviceToHost));
    printf("%.1f %.1f, on the host %.1f\n", host[0], host[999], scale(2, 999) * scale(2, 999));
    try {
        auto huge = allocate<double>(size_t(1) << 50);
        printf("not reached\n");
    } catch (const std::runtime_error &error) {
        printf("caught: %s\n", error.what());
    }
    try {
        apply<<<1, 4096>>>(x.get(), n, scale);
        require(cudaGetLastError());
    } catch (const std::exception &error) {
        printf("caught: %s\n", error.what());
        return 9;
    }
    return 0;
}
