/* The example in plain C: each element plus its right neighbour; the last element has none. */

void reference(float *out, const float *in, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i] + (i + 1 < n ? in[i + 1] : 0.0f);
}
