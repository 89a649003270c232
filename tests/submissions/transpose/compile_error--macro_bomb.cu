// Macros that quadruple, twelve deep: sixteen million times the text.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
#define A0 int a;
#define A1 A0 A0 A0 A0
#define A2 A1 A1 A1 A1
#define A3 A2 A2 A2 A2
#define A4 A3 A3 A3 A3
#define A5 A4 A4 A4 A4
#define A6 A5 A5 A5 A5
#define A7 A6 A6 A6 A6
#define A8 A7 A7 A7 A7
#define A9 A8 A8 A8 A8
#define A10 A9 A9 A9 A9
#define A11 A10 A10 A10 A10
#define A12 A11 A11 A11 A11
struct Many { A12 };
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}
