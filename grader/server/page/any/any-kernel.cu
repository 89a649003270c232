// run: --size n=65536 --input x=normal --output y=normal --scalar alpha=2.0 --model
// launch: saxpy<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)

__global__ void saxpy(float *y, const float *x, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i] + y[i];
}
