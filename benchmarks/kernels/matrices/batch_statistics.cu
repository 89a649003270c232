// Mean and variance of each channel of a batch of images: a block per channel, which jumps from
// image to image.
// run: --size m=64 --size c=256 --size p=1024 --input x=normal:m,c,p --output y=float32:2*c
// run: --size m=64 --size c=512 --size p=3136 --input x=normal:m,c,p --output y=float32:2*c
// launch: batch_statistics<<<c, 256>>>(y, x, m, p)

#define THREADS 256

// The sum of the values of all threads of a block, for all of them.
__device__ float add_block(float mine)
{
    __shared__ float partial[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = mine;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++)
        sum += partial[warp];
    return sum;
}

__global__ void batch_statistics(float* y, const float* x, int images, int p)
{
    float sum = 0.0f, squares = 0.0f;
    for (int image = 0; image < images; image++) {
        const float* pixels = x + ((size_t)image * gridDim.x + blockIdx.x) * p;
        for (int k = threadIdx.x; k < p; k += THREADS) {
            sum += pixels[k];
            squares += pixels[k] * pixels[k];
        }
    }
    const float mean = add_block(sum) / (images * p);
    const float square = add_block(squares) / (images * p);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = mean;
        y[gridDim.x + blockIdx.x] = square - mean * mean;
    }
}
