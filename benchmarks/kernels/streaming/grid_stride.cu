// SAXPY by a grid-stride loop over as many blocks as a size says: one, two or eight per SM.
// run: --size n=16777216 --size blocks=132 --input x=normal:n --output y=normal:n
// run: --size n=16777216 --size blocks=264 --input x=normal:n --output y=normal:n
// run: --size n=67108864 --size blocks=1056 --input x=normal:n --output y=normal:n
// launch: grid_stride<<<blocks, 256>>>(y, x, n)

__global__ void grid_stride(float* y, const float* x, int n)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = 2.0f * x[i] + y[i];
}
