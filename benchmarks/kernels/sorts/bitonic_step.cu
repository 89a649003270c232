// One step of a bitonic sort in global memory: a thread compares two numbers that lie `distance`
// apart, and swaps them where they are in the wrong order.
// run: --size n=4194304 --size distance=1 --output x=normal:n
// run: --size n=33554432 --size distance=16 --output x=normal:n
// run: --size n=33554432 --size distance=65536 --output x=normal:n
// launch: bitonic_step<<<n / 512, 256>>>(x, distance, 4 * distance)

__global__ void bitonic_step(float* x, int distance, int length)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = 2 * k - (k & (distance - 1)), right = left + distance;
    const float a = x[left], b = x[right];
    const bool ascending = (left & length) == 0;
    if ((a > b) == ascending) {
        x[left] = b;
        x[right] = a;
    }
}
