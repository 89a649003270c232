/* Attention with several heads in plain C, on one core of the processor: out = softmax(Q K^T / 8) V for each head.
 *
 *   Q, K, V   heads x n x 64 halves, row after row:  Q[head][row][d]  is  Q[(head * n + row) * 64 + d]
 *   out       as Q
 */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The type of the sums: float, as in the kernels. A program that verifies a kernel by this loop defines it as double
 * beforehand: then the result is rounded only once. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

enum { COLUMNS = 64 };

static SUM_TYPE dot(const _Float16 *a, const _Float16 *b)
{
    SUM_TYPE sum = 0;
    for (int d = 0; d < COLUMNS; d++)
        sum += (SUM_TYPE)a[d] * (SUM_TYPE)b[d];
    return sum;
}

static void attend(_Float16 *out, const _Float16 *q, const _Float16 *K, const _Float16 *V, SUM_TYPE *weights, int n)
{
    SUM_TYPE highest = -INFINITY, sum = 0, sums[COLUMNS] = {0};
    for (int key = 0; key < n; key++) {
        weights[key] = dot(q, K + (size_t)key * COLUMNS) / 8;
        highest = weights[key] > highest ? weights[key] : highest;
    }
    for (int key = 0; key < n; key++) {
        SUM_TYPE weight = exp(weights[key] - highest);
        sum += weight;
        for (int d = 0; d < COLUMNS; d++)
            sums[d] += weight * (SUM_TYPE)V[(size_t)key * COLUMNS + d];
    }
    for (int d = 0; d < COLUMNS; d++)
        out[d] = (_Float16)(sums[d] / sum);
}

void reference(_Float16 *out, const _Float16 *Q, const _Float16 *K, const _Float16 *V, int heads, int n)
{
    SUM_TYPE *weights = (SUM_TYPE *)malloc(sizeof(SUM_TYPE) * n);
    for (int row = 0; row < heads * n; row++) {
        size_t at = (size_t)row * COLUMNS, head = (size_t)(row / n) * n * COLUMNS;
        attend(out + at, Q + at, K + head, V + head, weights, n);
    }
    free(weights);
}
