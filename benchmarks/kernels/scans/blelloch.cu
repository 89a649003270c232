// Exclusive prefix sums of each block's 512 numbers: up a tree and down again, with bank
// conflicts.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: blelloch<<<n / 512, 256>>>(y, x)

#define THREADS 256

__global__ void blelloch(float* y, const float* x)
{
    __shared__ float sums[2 * THREADS];
    const int t = threadIdx.x, first = blockIdx.x * 2 * THREADS;
    sums[t] = x[first + t];
    sums[t + THREADS] = x[first + t + THREADS];
    for (int active = THREADS, distance = 1; active > 0; active /= 2, distance *= 2) {
        __syncthreads();
        if (t < active) {
            const int left = distance * (2 * t + 1) - 1;
            const int right = distance * (2 * t + 2) - 1;
            sums[right] += sums[left];
        }
    }
    if (t == 0)
        sums[2 * THREADS - 1] = 0.0f;
    for (int active = 1, distance = THREADS; active <= THREADS; active *= 2, distance /= 2) {
        __syncthreads();
        if (t < active) {
            const int left = distance * (2 * t + 1) - 1;
            const int right = distance * (2 * t + 2) - 1;
            const float before = sums[left];
            sums[left] = sums[right];
            sums[right] += before;
        }
    }
    __syncthreads();
    y[first + t] = sums[t];
    y[first + t + THREADS] = sums[t + THREADS];
}
