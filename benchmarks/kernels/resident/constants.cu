// A polynomial whose 16 coefficients lie in constant memory: operands of the instructions.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: constants<<<ceil_div(n, 256), 256>>>(y, x, n)

__constant__ float coefficient[16] = {
    1.0f,   0.5f,   0.25f,   -0.125f, 0.0625f, 0.3f,  -0.2f, 0.1f,
    -0.05f, 0.025f, -0.012f, 0.006f,  0.7f,    -0.4f, 0.35f, 0.01f,
};

__global__ void constants(float* y, const float* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], sum = 0;
    for (int k = 15; k >= 0; k--) sum = sum * v + coefficient[k];
    y[i] = sum;
}
