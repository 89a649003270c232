// Attention of one head with 64 values a key, in one pass: four warps hold 64 queries, walk over the
// keys in tiles of 64, keep the maximum and the sum of each row, and multiply on tensor cores. The
// queries, keys and values follow each other in one array.
// run: --size n=2048 --input QKV=normal:3*n,64:float16 --output O=float32:n,64
// run: --size n=16384 --input QKV=normal:3*n,64:float16 --output O=float32:n,64
// launch: attention<<<n / 64, 128>>>(O, QKV, n)

#include <mma.h>

using namespace nvcuda::wmma;

#define ROW 72

__device__ void copy_rows(half (*tile)[ROW], const half* rows)
{
    for (int i = threadIdx.x; i < 64 * 8; i += 128)
        *(int4*)&tile[i / 8][i % 8 * 8] = *(const int4*)&rows[i * 8];
}

__global__ void attention(float* O, const half* Q, int n)
{
    __shared__ __align__(32) half keys[64][ROW], values[64][ROW], weights[64][ROW];
    __shared__ __align__(32) float scores[64][68];
    const half *K = Q + (size_t)n * 64, *V = K + (size_t)n * 64;
    const int t = threadIdx.x, warp = t / 32, row = t / 2, part = t % 2 * 32;
    fragment<matrix_a, 16, 16, 16, half, row_major> q[4], w;
    fragment<matrix_b, 16, 16, 16, half, col_major> k;
    fragment<matrix_b, 16, 16, 16, half, row_major> v;
    fragment<accumulator, 16, 16, 16, float> s;
    float out[32] = {}, largest = -1e30f, sum = 0.0f;
    copy_rows(keys, Q + (size_t)blockIdx.x * 64 * 64);
    __syncthreads();
    for (int i = 0; i < 4; i++)
        load_matrix_sync(q[i], &keys[warp * 16][i * 16], ROW);
    __syncthreads();
    for (int first = 0; first < n; first += 64) {
        copy_rows(keys, K + (size_t)first * 64);
        copy_rows(values, V + (size_t)first * 64);
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            fill_fragment(s, 0.0f);
            for (int i = 0; i < 4; i++) {
                load_matrix_sync(k, &keys[j * 16][i * 16], ROW);
                mma_sync(s, q[i], k, s);
            }
            store_matrix_sync(&scores[warp * 16][j * 16], s, 68, mem_row_major);
        }
        __syncwarp();
        float higher = largest;
        for (int i = 0; i < 32; i++)
            higher = fmaxf(higher, scores[row][part + i] * 0.125f);
        higher = fmaxf(higher, __shfl_xor_sync(~0u, higher, 1));
        const float scale = __expf(largest - higher);
        sum *= scale;
        for (int i = 0; i < 32; i++) {
            const float weight = __expf(scores[row][part + i] * 0.125f - higher);
            sum += weight;
            weights[row][part + i] = __float2half(weight);
            out[i] *= scale;
        }
        largest = higher;
        __syncwarp();
        for (int j = 0; j < 4; j++) {
            fill_fragment(s, 0.0f);
            for (int i = 0; i < 4; i++) {
                load_matrix_sync(w, &weights[warp * 16][i * 16], ROW);
                load_matrix_sync(v, &values[i * 16][j * 16], ROW);
                mma_sync(s, w, v, s);
            }
            store_matrix_sync(&scores[warp * 16][j * 16], s, 68, mem_row_major);
        }
        __syncwarp();
        for (int i = 0; i < 32; i++)
            out[i] += scores[row][part + i];
        __syncthreads();
    }
    sum += __shfl_xor_sync(~0u, sum, 1);
    for (int i = 0; i < 32; i++)
        O[(size_t)(blockIdx.x * 64 + row) * 64 + part + i] = out[i] / sum;
}
