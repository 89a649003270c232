/* A radix sort in plain C, on one core of the processor: out contains the keys of in in ascending order.
 *
 *   in   n keys
 *   out  n keys
 */
#include <stdlib.h>
#include <string.h>

static void sort_by_digit(unsigned *to, const unsigned *from, int n, int shift)
{
    int first[257] = {0};
    for (int i = 0; i < n; i++)
        first[(from[i] >> shift & 255) + 1]++;
    for (int digit = 0; digit < 256; digit++)
        first[digit + 1] += first[digit];
    for (int i = 0; i < n; i++)
        to[first[from[i] >> shift & 255]++] = from[i];
}

void reference(unsigned *out, const unsigned *in, int n)
{
    unsigned *other = (unsigned *)malloc((size_t)n * sizeof(unsigned));
    memcpy(out, in, (size_t)n * sizeof(unsigned));
    for (int shift = 0; shift < 32; shift += 16) {
        sort_by_digit(other, out, n, shift);
        sort_by_digit(out, other, n, shift + 8);
    }
    free(other);
}
