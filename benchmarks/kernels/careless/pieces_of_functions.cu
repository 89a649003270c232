// A function in 16 pieces, whose coefficients are constants that the piece selects.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --input x=normal:n --output y=float32:n
// launch: pieces_of_functions<<<n / 256, 256>>>(y, x)

__constant__ float coefficients[16][4];

__global__ void pieces_of_functions(float* y, const float* x)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
    int piece = min(max(int(v * 4.0f + 8.0f), 0), 15);
    const float* own = coefficients[piece];
    y[i] = ((own[0] * v + own[1]) * v + own[2]) * v + own[3];
}
