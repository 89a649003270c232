// Loads of shared memory that do not wait for each other, `stride` words from lane to lane: what
// they take is wavefronts, not latency.
// run: --size n=540672 --size rounds=128 --size stride=0 --output y=float32:n
// run: --size n=540672 --size rounds=128 --size stride=1 --output y=float32:n
// run: --size n=540672 --size rounds=128 --size stride=2 --output y=float32:n
// run: --size n=540672 --size rounds=128 --size stride=8 --output y=float32:n
// launch: shared_loads<<<n / 256, 256>>>(y, rounds, stride)

#define WORDS 2048

__global__ void shared_loads(float* y, int rounds, int stride)
{
    __shared__ float words[WORDS + 32];
    for (int k = threadIdx.x; k < WORDS + 32; k += blockDim.x)
        words[k] = k;
    __syncthreads();
    int place = threadIdx.x % 32 * stride;
    float sums[4] = {};
    for (int k = 0; k < rounds; k++) {
        for (int j = 0; j < 4; j++)
            sums[j] += words[place + 8 * j];
        place = (place + 32) % WORDS;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}
