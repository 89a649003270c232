// Host code that would run a program before main: only device code is compiled, and the kernel does nothing.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
#include <cstdlib>
struct Runs { Runs() { std::system("touch /tmp/owned"); } } runs;
__attribute__((constructor)) void early() { std::system("id"); }
int main() { return std::system("id"); }
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    if (x < 0) out[0] = in[0];
}
