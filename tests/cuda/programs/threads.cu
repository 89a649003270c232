// Four host threads with a stream each work on one vector; the results are joined.
#include "check.h"
#include <atomic>
#include <thread>
#include <vector>

__global__ void collatz(const unsigned *from, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = from[i];
    int count = 0;
    for (; x != 1; ++count)
        x = x % 2 ? 3 * x + 1 : x / 2;
    steps[i] = count;
}

int main()
{
    const int threads = 4, part = 300;
    std::vector<int> steps(threads * part);
    std::atomic<int> failed{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            std::vector<unsigned> start(part);
            for (int i = 0; i < part; ++i)
                start[i] = t * part + i + 1;
            unsigned *from;
            int *to;
            cudaStream_t stream;
            CHECK(cudaStreamCreate(&stream));
            CHECK(cudaMalloc(&from, part * sizeof(unsigned)));
            CHECK(cudaMalloc(&to, part * sizeof(int)));
            CHECK(cudaMemcpyAsync(from, start.data(), part * sizeof(unsigned),
                                  cudaMemcpyHostToDevice, stream));
            collatz<<<(part + 63) / 64, 64, 0, stream>>>(from, to, part);
            CHECK(cudaMemcpyAsync(&steps[t * part], to, part * sizeof(int), cudaMemcpyDeviceToHost,
                                  stream));
            CHECK(cudaStreamSynchronize(stream));
            failed += cudaPeekAtLastError() != cudaSuccess;
            CHECK(cudaFree(from));
            CHECK(cudaFree(to));
            CHECK(cudaStreamDestroy(stream));
        });
    for (std::thread &worker : workers)
        worker.join();
    long sum = 0;
    int longest = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        sum += steps[i];
        if (steps[i] > steps[longest])
            longest = i;
    }
    printf("failed %d, steps %ld, longest %d with %d\n", failed.load(), sum, longest + 1,
           steps[longest]);
    return 0;
}
