// Attention with several heads: out = softmax(Q K^T / 8) V for each head, where softmax works on each row.
//
//   Q, K, V   heads x n x 64 halves, row after row: the queries, the keys, the values
//   out       heads x n x 64 halves
//
// The file has two kernels. `attention_naive` is the baseline: do not change it. `attention` is yours: it starts as a
// copy of the baseline. It is correct and fused (the n x n scores never reach memory), but slow. README.md of the
// exercise explains how to improve it.

#include <cfloat>
#include <cuda_fp16.h>

#define D 64         // columns of Q, K, V and out
#define THREADS 128  // threads of a block

// The grader launches the kernel by this line. It may use the names out, Q, K, V, heads and n, your own #defines,
// ceil_div, min, max and + - * / %. Change it if you change the kernel: its grid, its block, its name.
//
// launch: attention<<<dim3(ceil_div(n, THREADS), heads), THREADS>>>(out, Q, K, V, n)

// The baseline: a thread computes a row of out, key after key, by online softmax. blockIdx.y is the head.
__global__ void attention_naive(half* out, const half* Q, const half* K, const half* V, int n)
{
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= n) return;
    out += head, Q += head, K += head, V += head;
    float q[D], sums[D], highest = -FLT_MAX, sum = 0.0f;
    for (int d = 0; d < D; d++) {
        q[d] = __half2float(Q[(size_t)row * D + d]) / 8.0f;
        sums[d] = 0.0f;
    }
    for (int key = 0; key < n; key++) {
        float score = 0.0f;
        for (int d = 0; d < D; d++) score += q[d] * __half2float(K[(size_t)key * D + d]);
        float before = highest;
        highest = fmaxf(highest, score);
        float factor = expf(before - highest), weight = expf(score - highest);
        sum = sum * factor + weight;
        for (int d = 0; d < D; d++) sums[d] = sums[d] * factor + weight * __half2float(V[(size_t)key * D + d]);
    }
    for (int d = 0; d < D; d++) out[(size_t)row * D + d] = __float2half(sums[d] / sum);
}

// Yours. Four questions:
//   - how often does a block read each key from global memory?
//   - how many keys can share one new maximum?
//   - which parts of the work are products of matrices?
//   - where are the weights after the first product, and where does the second product need them?
__global__ void attention(half* out, const half* Q, const half* K, const half* V, int n)
{
    size_t head = (size_t)blockIdx.y * n * D;
    int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= n) return;
    out += head, Q += head, K += head, V += head;
    float q[D], sums[D], highest = -FLT_MAX, sum = 0.0f;
    for (int d = 0; d < D; d++) {
        q[d] = __half2float(Q[(size_t)row * D + d]) / 8.0f;
        sums[d] = 0.0f;
    }
    for (int key = 0; key < n; key++) {
        float score = 0.0f;
        for (int d = 0; d < D; d++) score += q[d] * __half2float(K[(size_t)key * D + d]);
        float before = highest;
        highest = fmaxf(highest, score);
        float factor = expf(before - highest), weight = expf(score - highest);
        sum = sum * factor + weight;
        for (int d = 0; d < D; d++) sums[d] = sums[d] * factor + weight * __half2float(V[(size_t)key * D + d]);
    }
    for (int d = 0; d < D; d++) out[(size_t)row * D + d] = __float2half(sums[d] / sum);
}
