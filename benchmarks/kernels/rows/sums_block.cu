// Row sums, a block per row: a tree in shared memory, with a barrier at each of its levels.
// run: --size rows=16384 --size cols=512 --input a=normal:rows,cols --output y=float32:rows
// run: --size rows=8192 --size cols=4096 --input a=normal:rows,cols --output y=float32:rows
// launch: sums_block<<<rows, 256>>>(y, a, cols)

__global__ void sums_block(float* y, const float* a, int cols)
{
    __shared__ float partial[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = t; k < cols; k += 256) sum += a[blockIdx.x * cols + k];
    partial[t] = sum;
    __syncthreads();
    for (int apart = 128; apart > 0; apart /= 2) {
        if (t < apart) partial[t] += partial[t + apart];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = partial[0];
}
