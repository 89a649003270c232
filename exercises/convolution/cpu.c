/* The convolution in plain C, on one core of the processor.
 *
 *   in, out  rows x cols floats, row after row
 *   w        7 x 7 weights
 *
 * out[y][x] is the sum of w[i][j] * in[y + i - 3][x + j - 3]; elements outside of in are 0.
 */

/* The type of the sums: a program that verifies a kernel by this loop defines it as double. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

void reference(float *out, const float *in, const float *w, int rows, int cols)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++) {
            SUM_TYPE sum = 0;
            for (int i = 0; i < 7; i++)
                for (int j = 0; j < 7; j++) {
                    int row = y + i - 3, col = x + j - 3;
                    if (row >= 0 && row < rows && col >= 0 && col < cols)
                        sum += (SUM_TYPE)w[7 * i + j] * in[(long)row * cols + col];
                }
            out[(long)y * cols + x] = sum;
        }
}
