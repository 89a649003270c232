/* The sum of a vector in plain C, on one core of the processor: out[0] = in[0] + in[1] + ... + in[n - 1].
 *
 *   in   n floats
 *   out  1 float
 */

/* The type that the sum is kept in: float, as the kernels have it. A program that verifies a kernel by this loop
 * defines it as double beforehand: then the result is rounded only once, as the grader's expected values are, and the
 * tolerance is left to the kernel alone. */
#ifndef SUM_TYPE
#define SUM_TYPE float
#endif

void reference(float *out, const float *in, int n)
{
    SUM_TYPE sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i];
    out[0] = (float)sum;
}
