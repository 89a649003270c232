// 16-byte loads of every second, fourth or eighth float4.
// run: --size n=2097152 --size stride=2 --input x=normal:4*n*stride --output y=float32:4*n
// run: --size n=2097152 --size stride=4 --input x=normal:4*n*stride --output y=float32:4*n
// run: --size n=2097152 --size stride=8 --input x=normal:4*n*stride --output y=float32:4*n
// launch: strided_float4<<<ceil_div(n, 256), 256>>>(y, x, stride, n)

__global__ void strided_float4(float4* y, const float4* x, int stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
}
