// A double buffer with cuda::pipeline: the next tile is on its way while this one is summed.
// in: a float32[1024] = small
// out: y float32[128]
// launch: run<<<1, 128>>>(y, a, 8)
#include <cuda/pipeline>
__global__ void run(float* y, const float* a, int tiles)
{
    __shared__ float s[2][128];
    const int i = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[0][i], &a[i], sizeof(float), pipe);
    pipe.producer_commit();
    float sum = 0;
    for (int t = 1; t < tiles; ++t) {
        pipe.producer_acquire();
        cuda::memcpy_async(&s[t & 1][i], &a[t * 128 + i], sizeof(float), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        sum += t * s[(t - 1) & 1][i ^ 1];
        __syncthreads();
        pipe.consumer_release();
    }
    pipe.consumer_wait();
    __syncthreads();
    y[i] = sum + tiles * s[(tiles - 1) & 1][i ^ 1];
}
