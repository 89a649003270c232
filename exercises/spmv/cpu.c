/* The product of a sparse matrix and a vector in plain C, on one core of the processor. Row r of the matrix has the
 * elements first[r] to first[r + 1] - 1.
 *
 *   y       rows floats
 *   first   rows + 1 integers
 *   column  count integers
 *   value   count floats
 *   x       cols floats
 */

/* The type of the sums: a program that verifies a kernel by this loop defines it as double. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

void reference(float *y, const int *first, const int *column, const float *value, const float *x, int rows, int cols,
               int count)
{
    (void)cols;
    (void)count;
    for (int row = 0; row < rows; row++) {
        SUM_TYPE sum = 0;
        for (int k = first[row]; k < first[row + 1]; k++)
            sum += (SUM_TYPE)value[k] * x[column[k]];
        y[row] = (float)sum;
    }
}
