// Threads whose number is large put it into a queue in shared memory; full warps work it off.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --input x=normal:n --output y=float32:n
// launch: queue_in_shared<<<n / 256, 256>>>(y, x)

__global__ void queue_in_shared(float* y, const float* x)
{
    __shared__ int places[256];
    __shared__ int count;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (x[i] > 0.6745f)
        places[atomicAdd(&count, 1)] = i;
    else
        y[i] = 0.0f;
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        const float first = x[places[k]];
        float value = first;
        for (int round = 0; round < 128; round++)
            value = value * 0.98f + first;
        y[places[k]] = value;
    }
}
