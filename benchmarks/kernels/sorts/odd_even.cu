// Sorts each 256 numbers by comparing neighbours, even pairs and odd pairs in turn, 256 times.
// run: --size n=262144 --input x=normal:n --output y=float32:n
// run: --size n=2097152 --input x=normal:n --output y=float32:n
// launch: odd_even<<<n / 256, 128>>>(y, x)

#define LENGTH 256

__global__ void odd_even(float* y, const float* x)
{
    __shared__ float keys[LENGTH];
    const int t = threadIdx.x, first = blockIdx.x * LENGTH;
    keys[t] = x[first + t];
    keys[t + LENGTH / 2] = x[first + t + LENGTH / 2];
    __syncthreads();
    for (int round = 0; round < LENGTH; round++) {
        const int left = 2 * t + round % 2;
        if (left + 1 < LENGTH && keys[left] > keys[left + 1]) {
            const float larger = keys[left];
            keys[left] = keys[left + 1];
            keys[left + 1] = larger;
        }
        __syncthreads();
    }
    y[first + t] = keys[t];
    y[first + t + LENGTH / 2] = keys[t + LENGTH / 2];
}
