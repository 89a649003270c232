// A matrix times a vector: a block per row, four numbers per thread at once.
// run: --size h=4096 --size w=4096 --input A=normal:h,w --input x=normal:w --output y=float32:h
// run: --size h=2048 --size w=65536 --input A=normal:h,w --input x=normal:w --output y=float32:h
// launch: vector_by_blocks<<<h, 256>>>(y, A, x, w / 4)

#define THREADS 256

__global__ void vector_by_blocks(float* y, const float4* A, const float4* x, int quads)
{
    __shared__ float partial[THREADS / 32];
    const float4* row = A + (size_t)blockIdx.x * quads;
    float sum = 0.0f;
    for (int k = threadIdx.x; k < quads; k += THREADS) {
        const float4 a = row[k], b = x[k];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < THREADS / 32; warp++)
            sum += partial[warp];
        y[blockIdx.x] = sum;
    }
}
