// Addition of every pair of edge values modulo 2^32.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// out: sum uint32[1024]
// launch: add<<<4, 256>>>(sum, a, b)
__global__ void add(unsigned int* sum, const unsigned int* a, const unsigned int* b)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] = a[i] + b[i];
}
