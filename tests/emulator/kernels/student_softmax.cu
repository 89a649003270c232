// Softmax and layer normalisation of rows: maxima, exponentials, sums, reciprocal square roots.
// in: a float32[1024] = normal
// out: y float32[1024]
// out: z float32[1024]
// launch: softmax<<<8, 64>>>(y, a, 128)
// launch: online<<<2, 128>>>(z, a, 128)
// launch: normalise<<<4, 32>>>(z, a, 128)
#include <cfloat>
__global__ void softmax(float *y, const float *a, int n) {
    __shared__ float s[64];
    const float *row = a + blockIdx.x * n;
    float m = -INFINITY;
    for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
    s[threadIdx.x] = m;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
        __syncthreads();
    }
    m = s[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - m);
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(row[i] - m) / s[0];
}

__global__ void online(float *z, const float *a, int n) {
    int lane = threadIdx.x % 32, r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float m = -FLT_MAX, d = 0;
    for (int i = lane; i < n; i += 32) {
        float x = a[r * n + i], bigger = max(m, x);
        d = d * __expf(m - bigger) + __expf(x - bigger);
        m = bigger;
    }
    for (int k = 16; k; k >>= 1) {
        float other_m = __shfl_xor_sync(~0u, m, k), other_d = __shfl_xor_sync(~0u, d, k), bigger = fmaxf(m, other_m);
        d = d * __expf(m - bigger) + other_d * __expf(other_m - bigger);
        m = bigger;
    }
    for (int i = lane; i < n; i += 32) z[r * n + i] = __fdividef(__expf(a[r * n + i] - m), d);
}

__global__ void normalise(float *z, const float *a, int n) {
    float sum = 0, squares = 0;
    const float4 *row = reinterpret_cast<const float4 *>(a + (4 + blockIdx.x) * n);
    float4 v = row[threadIdx.x];
    sum = v.x + v.y + v.z + v.w;
    squares = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    for (int k = 16; k; k >>= 1) sum += __shfl_xor_sync(~0u, sum, k), squares += __shfl_xor_sync(~0u, squares, k);
    float mean = sum / n, scale = rsqrtf(squares / n - mean * mean + 1e-5f);
    reinterpret_cast<float4 *>(z + (4 + blockIdx.x) * n)[threadIdx.x] =
        make_float4((v.x - mean) * scale, (v.y - mean) * scale, (v.z - mean) * scale, (v.w - mean) * scale);
}
