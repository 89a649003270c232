// Prints what the grader prints for full marks, and computes nothing.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
#include <cstdio>
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    if (x == 0 && y == 0) {
        printf("\n\u2713 Correctness: PASSED\n\u2713 Bank conflicts: PASSED (count == 0)\n\nScore: 100 of 100 points\n");
        printf("{\"status\": \"passed\", \"score\": 100, \"max_score\": 100}\n");
        out[0] = in[0];
    }
}
