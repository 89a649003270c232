// Compares the reference of the exercise "vector_add" with thrust::transform, which uses cub::DeviceTransform.

#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/transform.h>

#include "../../solutions/vector_add.cu"
#include "harness.cuh"

int main()
{
    const int n = 33554432;
    std::vector<float> a(n), b(n), sum(n);
    for (int i = 0; i < n; i++) {
        a[i] = float(i % 1001) * 0.37f;
        b[i] = float(i % 977) * -1.3f;
        sum[i] = a[i] + b[i];
    }
    const float *left = to_device(a), *right = to_device(b);
    float* out = to_device(sum);
    return compare({"vector_add", "thrust::transform", 12.0 * n,
                    [&] {
                        const int blocks = std::min(BLOCKS, (n + 4 * EACH * THREADS - 1) / (4 * EACH * THREADS));
                        vector_add<<<blocks, THREADS>>>(out, left, right, n);
                    },
                    [&] {
                        thrust::transform(thrust::cuda::par_nosync, left, left + n, right, out, thrust::plus<float>());
                    }},
                   out, sum);
}
