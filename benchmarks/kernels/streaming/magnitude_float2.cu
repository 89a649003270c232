// The absolute values of complex numbers: 8 bytes read and 4 written per thread.
// run: --size n=4194304 --input z=normal:2*n --output y=float32:n
// run: --size n=33554432 --input z=normal:2*n --output y=float32:n
// launch: magnitude_float2<<<ceil_div(n, 256), 256>>>(y, z, n)

__global__ void magnitude_float2(float* y, const float2* z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 v = z[i];
    y[i] = sqrtf(v.x * v.x + v.y * v.y);
}
