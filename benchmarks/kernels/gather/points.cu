// float4 at places that an array lists: 16 of a sector's 32 bytes are used.
// run: --size n=1048576 --input list=permutation:n --input x=normal:4*n --output y=float32:4*n
// run: --size n=8388608 --input list=permutation:n --input x=normal:4*n --output y=float32:4*n
// launch: points<<<ceil_div(n, 256), 256>>>(y, x, list, n)

__global__ void points(float4* y, const float4* x, const int* list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[list[i]];
}
