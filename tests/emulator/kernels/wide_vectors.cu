// Structs of 32 bytes, which sm_100 moves at once, and pairs of floats, which it computes with.
// in: a float32[2048] = edges
// in: b float32[2048] = edges
// out: y float32[2048]
// out: z float32[2048]
// launch: add_eights<<<1, 256>>>(y, a, b)
// launch: combine_pairs<<<4, 256>>>(z, a, b)
struct alignas(32) Eight {
    float values[8];
};

__global__ void add_eights(float* y, const float* a, const float* b)
{
    const int i = threadIdx.x;
    const Eight left = reinterpret_cast<const Eight*>(a)[i];
    const Eight right = reinterpret_cast<const Eight*>(b)[255 - i];
    Eight sum;
    for (int n = 0; n < 8; ++n)
        sum.values[n] = left.values[n] + right.values[7 - n];
    if (i % 5 != 0)
        reinterpret_cast<Eight*>(y)[i] = sum;
}

__device__ float2 multiply_and_add(float2 a, float2 b, float2 c)
{
#if __CUDA_ARCH__ >= 1000
    return __ffma2_rn(a, b, c);
#else
    return make_float2(__fmaf_rn(a.x, b.x, c.x), __fmaf_rn(a.y, b.y, c.y));
#endif
}

__device__ float2 multiply(float2 a, float2 b)
{
#if __CUDA_ARCH__ >= 1000
    return __fmul2_rd(a, b);
#else
    return make_float2(__fmul_rd(a.x, b.x), __fmul_rd(a.y, b.y));
#endif
}

__device__ float2 add(float2 a, float2 b)
{
#if __CUDA_ARCH__ >= 1000
    return __fadd2_rn(a, b);
#else
    return make_float2(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
#endif
}

__global__ void combine_pairs(float* z, const float* a, const float* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float2 x = reinterpret_cast<const float2*>(a)[i];
    const float2 y = reinterpret_cast<const float2*>(b)[1023 - i];
    const float2 half = make_float2(0.5f, 0.5f), mixed = make_float2(1.0f, -3.0f);
    float2 sum = multiply_and_add(x, make_float2(y.y, y.x), make_float2(-x.x, x.y));
    sum = multiply_and_add(make_float2(y.y, y.y), sum, half);
    sum = add(multiply(sum, mixed), make_float2(x.x, -y.y));
    reinterpret_cast<float2*>(z)[i] = sum;
}
