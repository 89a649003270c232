// Exclusive prefix sums of each block's 512 numbers, up a tree and down again, without bank
// conflicts.
// run: --size n=4194304 --input x=normal:n --output y=float32:n
// run: --size n=33554432 --input x=normal:n --output y=float32:n
// launch: blelloch_padded<<<n / 512, 256>>>(y, x)

#define THREADS 256
#define PLACE(i) ((i) + (i) / 32)  // a gap behind each 32 words

__global__ void blelloch_padded(float* y, const float* x)
{
    __shared__ float sums[2 * THREADS + 2 * THREADS / 32];
    const int t = threadIdx.x, first = blockIdx.x * 2 * THREADS;
    sums[PLACE(t)] = x[first + t];
    sums[PLACE(t + THREADS)] = x[first + t + THREADS];
    for (int active = THREADS, distance = 1; active > 0; active /= 2, distance *= 2) {
        __syncthreads();
        if (t < active) {
            const int left = PLACE(distance * (2 * t + 1) - 1);
            const int right = PLACE(distance * (2 * t + 2) - 1);
            sums[right] += sums[left];
        }
    }
    if (t == 0)
        sums[PLACE(2 * THREADS - 1)] = 0.0f;
    for (int active = 1, distance = THREADS; active <= THREADS; active *= 2, distance /= 2) {
        __syncthreads();
        if (t < active) {
            const int left = PLACE(distance * (2 * t + 1) - 1);
            const int right = PLACE(distance * (2 * t + 2) - 1);
            const float before = sums[left];
            sums[left] = sums[right];
            sums[right] += before;
        }
    }
    __syncthreads();
    y[first + t] = sums[PLACE(t)];
    y[first + t + THREADS] = sums[PLACE(t + THREADS)];
}
