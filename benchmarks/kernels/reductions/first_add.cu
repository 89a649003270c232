// The sum of each block's numbers: each thread adds two while it loads them.
// run: --size n=4194304 --input x=normal:n --output sums=float32:n/512
// run: --size n=33554432 --input x=normal:n --output sums=float32:n/512
// launch: first_add<<<n / 512, 256>>>(sums, x)

#define THREADS 256

__global__ void first_add(float* sums, const float* x)
{
    __shared__ float partial[THREADS];
    const int t = threadIdx.x;
    const int first = blockIdx.x * 2 * THREADS + t;
    partial[t] = x[first] + x[first + THREADS];
    __syncthreads();
    for (int distance = THREADS / 2; distance > 0; distance /= 2) {
        if (t < distance)
            partial[t] += partial[t + distance];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}
