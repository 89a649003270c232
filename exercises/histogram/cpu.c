/* The histogram in plain C, on one core of the processor: counts[v] is the number of elements of in that are v.
 *
 *   in      n integers from 0 to 255
 *   counts  256 integers
 */
void reference(int *counts, const int *in, int n)
{
    for (int bin = 0; bin < 256; bin++)
        counts[bin] = 0;
    for (int i = 0; i < n; i++)
        counts[in[i]]++;
}
