/* The matrix product of halves in plain C, on one core of the processor: C = A * B, from the definition.
 *
 *   A    M x K halves, row after row:  A[row][k]    is  A[row * K + k]
 *   B    K x N halves, row after row:  B[k][col]    is  B[k * N + col]
 *   C    M x N floats, row after row:  C[row][col]  is  C[row * N + col]
 */

#include <stddef.h>

/* The type that the sum is kept in: float, as the kernels have it. A program that verifies a kernel by this loop
 * defines it as double beforehand: then the result is rounded only once, as the grader's expected values are, and the
 * tolerance is left to the kernel alone. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

void reference(const _Float16 *A, const _Float16 *B, float *C, int M, int N, int K)
{
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++) {
            SUM_TYPE sum = 0;
            for (int k = 0; k < K; k++)
                sum += (SUM_TYPE)A[(size_t)row * K + k] * (SUM_TYPE)B[(size_t)k * N + col];
            C[(size_t)row * N + col] = (float)sum;
        }
}
