// A thread per query; tiles in shared memory; corrections only for a new maximum: rung 2 of the ladder.

#include <cfloat>
#include <cuda_fp16.h>

#define D 64         // columns of Q, K, V and out
#define THREADS 128  // threads of a block
#define KEYS 32      // keys of a tile

// launch: attention<<<dim3(ceil_div(n, THREADS), heads), THREADS>>>(out, Q, K, V, n)

__global__ void __launch_bounds__(THREADS) attention(half* out, const half* Q, const half* K, const half* V, int n)
{
    __shared__ float4 keys[KEYS][D / 4], values[KEYS][D / 4];
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * THREADS + threadIdx.x;
    out += head, Q += head, K += head, V += head;
    float4 q[D / 4], sums[D / 4];
    float highest = -FLT_MAX, sum = 0.0f;
    #pragma unroll
    for (int d = 0; d < D / 4; d++) {
        const half* from = Q + (size_t)min(row, n - 1) * D + 4 * d;
        q[d] = {__half2float(from[0]) / 8, __half2float(from[1]) / 8, __half2float(from[2]) / 8,
                __half2float(from[3]) / 8};
        sums[d] = {0.0f, 0.0f, 0.0f, 0.0f};
    }
    for (int first = 0; first < n; first += KEYS) {
        int count = min(KEYS, n - first);
        __syncthreads();
        for (int i = threadIdx.x; i < count * D / 2; i += THREADS) {
            float2 key = __half22float2(reinterpret_cast<const half2*>(K + (size_t)first * D)[i]);
            float2 value = __half22float2(reinterpret_cast<const half2*>(V + (size_t)first * D)[i]);
            reinterpret_cast<float2*>(keys)[i] = key;
            reinterpret_cast<float2*>(values)[i] = value;
        }
        __syncthreads();
        for (int j = 0; j < count; j++) {
            float score = 0.0f;
            #pragma unroll
            for (int d = 0; d < D / 4; d++) {
                float4 k = keys[j][d];
                score += q[d].x * k.x + q[d].y * k.y + q[d].z * k.z + q[d].w * k.w;
            }
            if (score > highest) {
                float factor = __expf(highest - score);
                highest = score;
                sum *= factor;
                #pragma unroll
                for (int d = 0; d < D / 4; d++)
                    sums[d] = {sums[d].x * factor, sums[d].y * factor, sums[d].z * factor, sums[d].w * factor};
            }
            float weight = __expf(score - highest);
            sum += weight;
            #pragma unroll
            for (int d = 0; d < D / 4; d++) {
                float4 v = values[j][d];
                sums[d].x += weight * v.x, sums[d].y += weight * v.y;
                sums[d].z += weight * v.z, sums[d].w += weight * v.w;
            }
        }
    }
    if (row >= n) return;
    #pragma unroll
    for (int d = 0; d < D / 4; d++) {
        half* to = out + (size_t)row * D + 4 * d;
        to[0] = __float2half(sums[d].x / sum), to[1] = __float2half(sums[d].y / sum);
        to[2] = __float2half(sums[d].z / sum), to[3] = __float2half(sums[d].w / sum);
    }
}
