// Stores to shared memory and loads of it, `stride` words from lane to lane: conflicts of 1, 2, 4,
// 8 and 32 ways.
// run: --size n=1081344 --size rounds=32 --size stride=1 --output y=float32:n
// run: --size n=1081344 --size rounds=32 --size stride=2 --output y=float32:n
// run: --size n=1081344 --size rounds=32 --size stride=4 --output y=float32:n
// run: --size n=1081344 --size rounds=32 --size stride=8 --output y=float32:n
// run: --size n=1081344 --size rounds=32 --size stride=32 --output y=float32:n
// launch: conflicts<<<n / 256, 256>>>(y, rounds, stride)

#define WORDS 1024

__global__ void conflicts(float* y, int rounds, int stride)
{
    __shared__ float words[WORDS * 8];
    const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
    float* mine = words + threadIdx.x / 32 * WORDS;
    float value = i;
    for (int k = 0; k < rounds; k++) {
        mine[lane * stride] = value;
        __syncwarp();
        value += mine[(31 - lane) * stride];
        __syncwarp();
    }
    y[i] = value;
}
