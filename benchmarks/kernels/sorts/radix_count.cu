// First part of a radix sort: how often each of 256 digits comes in each block's 4,096 keys,
// written digit by digit so that one scan gives all places.
// run: --size n=4194304 --input x=normal:n --output counts=uint32:256,n/4096
// run: --size n=33554432 --input x=normal:n --output counts=uint32:256,n/4096
// launch: radix_count<<<n / 4096, 256>>>(counts, x, 16)

#define KEYS 4096

__global__ void radix_count(unsigned* counts, const float* x, int shift)
{
    __shared__ unsigned digits[256];
    digits[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < KEYS; k += blockDim.x)
        atomicAdd(&digits[__float_as_uint(x[blockIdx.x * KEYS + k]) >> shift & 255], 1u);
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = digits[threadIdx.x];
}
