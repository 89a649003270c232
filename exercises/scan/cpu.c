/* The prefix sum of a vector in plain C, on one core of the processor: out[i] = in[0] + in[1] + ... + in[i].
 *
 *   in   n integers
 *   out  n integers
 */
void reference(int *out, const int *in, int n)
{
    unsigned sum = 0; /* wraps around */
    for (int i = 0; i < n; i++) {
        sum += (unsigned)in[i];
        out[i] = (int)sum;
    }
}
