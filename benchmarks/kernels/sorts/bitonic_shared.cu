// Sorts each 1,024 numbers in shared memory by a bitonic network: 55 steps with a barrier each.
// run: --size n=1048576 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --input x=normal:n --output y=float32:n
// launch: bitonic_shared<<<n / 1024, 512>>>(y, x)

#define LENGTH 1024

__global__ void bitonic_shared(float* y, const float* x)
{
    __shared__ float keys[LENGTH];
    const int t = threadIdx.x, first = blockIdx.x * LENGTH;
    keys[t] = x[first + t];
    keys[t + LENGTH / 2] = x[first + t + LENGTH / 2];
    for (int length = 2; length <= LENGTH; length *= 2)
        for (int distance = length / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int left = 2 * t - (t & (distance - 1)), right = left + distance;
            const float a = keys[left], b = keys[right];
            if ((a > b) == ((left & length) == 0)) {
                keys[left] = b;
                keys[right] = a;
            }
        }
    __syncthreads();
    y[first + t] = keys[t];
    y[first + t + LENGTH / 2] = keys[t + LENGTH / 2];
}
