// Threads of a block of 256 hand a number on to their neighbour, with a barrier each time.
// run: --size n=540672 --size rounds=64 --input x=normal:n --output y=float32:n
// run: --size n=2162688 --size rounds=256 --input x=normal:n --output y=float32:n
// launch: barriers<<<n / 256, 256>>>(y, x, rounds)

#define THREADS 256

__global__ void barriers(float* y, const float* x, int rounds)
{
    __shared__ float numbers[2][THREADS];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    numbers[0][t] = x[i];
    for (int k = 0; k < rounds; k++) {
        __syncthreads();
        numbers[(k + 1) % 2][t] = numbers[k % 2][(t + 33) % THREADS] * 0.5f + k;
    }
    y[i] = numbers[rounds % 2][t];
}
