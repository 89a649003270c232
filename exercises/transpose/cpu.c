/* The transpose in plain C, on one core of the processor: out[x][y] = in[y][x], from the definition.
 *
 *   in    rows x cols floats, row after row:  in[y][x]  is  in[y * cols + x]
 *   out   cols x rows floats, row after row:  out[x][y] is  out[x * rows + y]
 */

#include <stddef.h>

void reference(float *out, const float *in, int rows, int cols)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
}
