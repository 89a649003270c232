/* The sum of two vectors in plain C, on one core of the processor: out[i] = a[i] + b[i].
 *
 *   a, b  n floats each
 *   out   n floats
 */
void reference(float *out, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}
