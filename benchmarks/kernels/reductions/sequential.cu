// The sum of each block's numbers: neighbouring threads add neighbouring addresses, half as many
// each round.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/256
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/256
// launch: sequential<<<n / 256, 256>>>(sums, x)

#define THREADS 256

__global__ void sequential(float* sums, const float* x)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;
    partial[t] = x[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance)
            partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
