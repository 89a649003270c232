// Sum of a vector: out[0] = in[0] + in[1] + ... + in[n - 1].
//
// block_sums_naive is the baseline, block_sums is yours, total adds what either of them left.

#define THREADS 256  // threads of a block: a power of two

// scratch: float partial[ceil_div(n, THREADS)]
// launch: block_sums<<<ceil_div(n, THREADS), THREADS>>>(partial, in, n)
// launch: total<<<1, THREADS>>>(out, partial, ceil_div(n, THREADS))

// Each step adds pairs that are twice as far apart: half of the threads of every warp have nothing to do.
__device__ float add_up(float value)
{
    __shared__ float sums[THREADS];
    sums[threadIdx.x] = value;
    for (int apart = 1; apart < THREADS; apart *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * apart) == 0)
            sums[threadIdx.x] += sums[threadIdx.x + apart];
    }
    return sums[0];  // only thread 0 knows that it is complete
}

__global__ void block_sums_naive(float* partial, const float* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = add_up(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

// Yours.
__global__ void block_sums(float* partial, const float* in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = add_up(i < n ? in[i] : 0.0f);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

__global__ void total(float* out, const float* partial, int count)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += partial[i];
    sum = add_up(sum);
    if (threadIdx.x == 0)
        out[0] = sum;
}
