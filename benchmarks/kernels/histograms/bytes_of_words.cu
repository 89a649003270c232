// A histogram of all bytes: a thread reads four words at once, and counts their 16 bytes in shared
// memory.
// run: --size n=1048576 --input x=normal:4*n --output bins=index:256:uint32
// run: --size n=4194304 --input x=normal:4*n --output bins=index:256:uint32
// launch: bytes_of_words<<<528, 256>>>(bins, x, n)

__device__ void count_bytes(unsigned* counts, unsigned word)
{
    for (int k = 0; k < 4; k++)
        atomicAdd(&counts[word >> (8 * k) & 255], 1u);
}

__global__ void bytes_of_words(unsigned* bins, const float4* x, int n)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float4 words = x[i];
        count_bytes(counts, __float_as_uint(words.x));
        count_bytes(counts, __float_as_uint(words.y));
        count_bytes(counts, __float_as_uint(words.z));
        count_bytes(counts, __float_as_uint(words.w));
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
