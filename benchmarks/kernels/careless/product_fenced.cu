// A tiled matrix product with a fence beside each barrier: none (0), for the block, the GPU, the system.
// run: --size n=512 --size scope=1 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size scope=0 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size scope=1 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size scope=2 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size scope=3 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=2048 --size scope=3 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// launch: product_fenced<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(c, a, b, n, scope)

__device__ void fence(int scope)
{
    if (scope == 1)
        __threadfence_block();
    if (scope == 2)
        __threadfence();
    if (scope == 3)
        __threadfence_system();
}

__global__ void product_fenced(float* c, const float* a, const float* b, int n, int scope)
{
    __shared__ float left[32][32], right[32][32];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
    float sums[4] = {};
    for (int start = 0; start < n; start += 32) {
        for (int i = 0; i < 32; i += 8) {
            left[y + i][x] = a[(row + i) * n + start + x];
            right[y + i][x] = b[(start + y + i) * n + col];
        }
        __syncthreads();
        fence(scope);
        for (int k = 0; k < 32; k++)
            for (int i = 0; i < 4; i++)
                sums[i] += left[y + 8 * i][k] * right[k][x];
        __syncthreads();
        fence(scope);
    }
    for (int i = 0; i < 4; i++)
        c[(row + 8 * i) * n + col] = sums[i];
}
