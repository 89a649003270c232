// scratch: float partial[1024]
// launch: first<<<1024, 256>>>(partial, in, n)
// launch: second<<<1, 1024>>>(out, partial)
__global__ void first(float* partial, const float* in, int n)
{
    __shared__ float tree[256];
    int chunk = (n + gridDim.x - 1) / gridDim.x;
    int begin = blockIdx.x * chunk;
    int end = min(begin + chunk, n);
    float sum = 0;
    for (int i = begin + threadIdx.x; i < end; i += 256)
        sum = sum + in[i];
    tree[threadIdx.x] = sum;
    for (int half = 128; half >= 1; half = half / 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tree[threadIdx.x] = tree[threadIdx.x] + tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = tree[0];
}

__global__ void second(float* out, const float* partial)
{
    __shared__ float tree[1024];
    tree[threadIdx.x] = partial[threadIdx.x];
    for (int half = 512; half >= 1; half = half / 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tree[threadIdx.x] = tree[threadIdx.x] + tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[0] = tree[0];
}
