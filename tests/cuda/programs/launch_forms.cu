// A launch by <<<>>>, cudaLaunchKernel, cudaLaunchKernelEx and cudaLaunchKernelExC, with more than
// 48 KiB of dynamic shared memory, templates and structures as parameters.
#include "check.h"

struct Line {
    double slope;
    char padding;
    float shift[3];
};

template <typename T, int STEP> __global__ void apply(T *x, int n, Line line)
{
    extern __shared__ char bytes[];
    T *cache = (T *)bytes;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cache[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = cache[(i + STEP) % n] * line.slope + line.shift[i % 3];
}

void show(const char *name, float *device)
{
    float host[4];
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%s: %g %g %g %g\n", name, host[0], host[1], host[2], host[3]);
}

int main()
{
    int n = 20000;
    float *x, *host = new float[n];
    for (int i = 0; i < n; ++i)
        host[i] = i;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice));
    Line line = {2, 'p', {0.25f, 0.5f, 0.75f}};
    auto kernel = apply<float, 7>;

    kernel<<<1, 256, n * sizeof(float)>>>(x, n, line);
    printf("without attribute: %s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               n * sizeof(float)));
    kernel<<<1, 256, n * sizeof(float)>>>(x, n, line);
    CHECK(cudaGetLastError());
    show("brackets", x);

    void *arguments[] = {&x, &n, &line};
    CHECK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(128), arguments,
                           n * sizeof(float), 0));
    show("cudaLaunchKernel", x);

    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = dim3(16, 4);
    config.dynamicSmemBytes = n * sizeof(float);
    CHECK(cudaLaunchKernelEx(&config, kernel, x, n, line));
    CHECK(cudaLaunchKernelExC(&config, (const void *)kernel, arguments));
    show("cudaLaunchKernelEx", x);

    double *y;
    CHECK(cudaMalloc(&y, 8 * sizeof(double)));
    CHECK(cudaMemset(y, 0, 8 * sizeof(double)));
    apply<double, 1><<<dim3(1, 1, 1), dim3(8, 1, 1), 8 * sizeof(double), nullptr>>>(y, 8, line);
    double values[8];
    CHECK(cudaMemcpy(values, y, sizeof(values), cudaMemcpyDeviceToHost));
    printf("double: %g %g %g\n", values[0], values[1], values[7]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    delete[] host;
    return 0;
}
