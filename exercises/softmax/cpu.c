/* The softmax of each row in plain C, on one core of the processor, in three passes over the row.
 *
 *   in    rows x cols floats, row after row:  in[row][col]  is  in[row * cols + col]
 *   out   as in
 */

#include <math.h>
#include <stddef.h>

/* The type of the sum: float, as in the kernels. A program that verifies a kernel by this loop defines it as double
 * beforehand: then the result is rounded only once. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

void reference(float *out, const float *in, int rows, int cols)
{
    for (int row = 0; row < rows; row++) {
        const float *x = in + (size_t)row * cols;
        float *y = out + (size_t)row * cols;
        float highest = x[0];
        for (int col = 1; col < cols; col++)
            highest = x[col] > highest ? x[col] : highest;
        SUM_TYPE sum = 0;
        for (int col = 0; col < cols; col++)
            sum += exp((SUM_TYPE)x[col] - highest);
        for (int col = 0; col < cols; col++)
            y[col] = (float)(exp((SUM_TYPE)x[col] - highest) / sum);
    }
}
