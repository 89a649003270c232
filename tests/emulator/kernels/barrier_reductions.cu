// __syncthreads_count, _and and _or.
// in: a uint32[96] = edges
// out: y int32[288]
// launch: run<<<1, 96>>>(y, a)
__global__ void run(int* y, const unsigned int* a)
{
    const int i = threadIdx.x;
    y[i] = __syncthreads_count(a[i] & 1);
    y[96 + i] = __syncthreads_and(a[i] < 5) + 2 * __syncthreads_and(i < 96);
    y[192 + i] = __syncthreads_or(a[i] == 31) + 2 * __syncthreads_or(i > 95);
}
