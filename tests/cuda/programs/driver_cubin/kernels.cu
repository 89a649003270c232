__constant__ float bias;

extern "C" __global__ void axpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i] + bias;
}

extern "C" __global__ void reverse(float *x, int n)
{
    extern __shared__ float tile[];
    int i = threadIdx.x;
    tile[i] = x[i];
    __syncthreads();
    if (i < n)
        x[i] = tile[n - 1 - i];
}
