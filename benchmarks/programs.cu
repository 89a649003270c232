// Costs of CUDA calls in microseconds: lines `name value`. Argument: the number of launches.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void add(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += a[i];
}

static double now()
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

template <class Function> static double shortest(int times, Function function)
{
    double best = 1e30;
    for (int i = 0; i < times; ++i) {
        double start = now();
        function();
        best = std::min(best, now() - start);
    }
    return best;
}

static void show(const char *name, double us) { printf("%s %.3f\n", name, us); }

int main(int, char **words)
{
    const size_t most = 256 << 20;
    int launches = atoi(words[1]);
    float *x, *y;
    double start = now();
    cudaFree(nullptr);
    show("first call", now() - start);
    cudaMalloc(&x, most);
    cudaMalloc(&y, 4096);
    cudaMemset(y, 0, 4096);
    start = now();
    for (int done = 1; done <= launches; done *= 10) {
        add<<<1, 32>>>(x, y, 32);
        cudaDeviceSynchronize();
        int batch = done < 100 ? 1 : 100;
        start = now();
        for (int i = 0; i < batch; ++i)
            add<<<1, 32>>>(x, y, 32);
        cudaDeviceSynchronize();
        char name[32];
        sprintf(name, "launch %d", done);
        show(name, (now() - start) / batch);
        for (int i = batch + 1; i < 9 * done && done < launches; ++i)
            add<<<1, 32>>>(x, y, 32);
        cudaDeviceSynchronize();
    }
    std::vector<char> from(most, 1), to(most, 1);
    for (size_t bytes = 1 << 10; bytes <= most; bytes <<= 6) {
        int times = bytes < (1 << 20) ? 200 : 5;
        char name[32];
        sprintf(name, "memcpy %zu", bytes);
        show(name, shortest(times, [&] { memcpy(to.data(), from.data(), bytes); }));
        sprintf(name, "to device %zu", bytes);
        show(name, shortest(times, [&] { cudaMemcpy(x, from.data(), bytes, cudaMemcpyDefault); }));
        sprintf(name, "to host %zu", bytes);
        show(name, shortest(times, [&] { cudaMemcpy(to.data(), x, bytes, cudaMemcpyDefault); }));
    }
    cudaFree(x);
    cudaFree(y);
    return 0;
}
