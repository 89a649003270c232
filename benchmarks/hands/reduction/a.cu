#define THREADS 256
// launch: tree_sum<<<ceil_div(n, THREADS), THREADS>>>(out, in, n)
__global__ void tree_sum(float* out, const float* in, int n)
{
    __shared__ float leaves[THREADS];
    unsigned int place = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    leaves[place] = (i < n) ? in[i] : 0;
    __syncthreads();
    for (unsigned int reach = blockDim.x / 2; reach > 0; reach >>= 1) {
        if (place < reach) {
            leaves[place] += leaves[place + reach];
        }
        __syncthreads();
    }
    if (place == 0) atomicAdd(out, leaves[0]);
}
