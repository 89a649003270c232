// The mean of 15 neighbours on a line, read from a tile in shared memory with its halo.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: line_tiled<<<ceil_div(n, 256), 256>>>(y, x, n)

#define RADIUS 7
#define THREADS 256

__global__ void line_tiled(float* y, const float* x, int n)
{
    __shared__ float tile[THREADS + 2 * RADIUS];
    const int first = blockIdx.x * THREADS - RADIUS;
    for (int k = threadIdx.x; k < THREADS + 2 * RADIUS; k += THREADS)
        tile[k] = x[min(max(first + k, 0), n - 1)];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += tile[threadIdx.x + k];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        y[i] = sum / (2 * RADIUS + 1);
}
