// Threads that gather 8 random words each, and prefetch those of some steps ahead.
// run: --size n=1048576 --size ahead=1 --input x=normal:67108864 --output y=float32:n
// run: --size n=1048576 --size ahead=4 --input x=normal:67108864 --output y=float32:n
// run: --size n=4194304 --size ahead=4 --input x=normal:67108864 --output y=float32:n
// launch: gather_prefetching<<<n / 256, 256>>>(y, x, n, ahead)

__device__ unsigned place(int i, int k)
{
    unsigned at = (unsigned(i) * 8 + k) * 2654435761u;
    return (at ^ at >> 13) & 67108863u;
}

__global__ void gather_prefetching(float* y, const float* x, int n, int ahead)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(x + place(i, k + ahead)));
        sum += x[place(i, k)];
    }
    y[i] = sum;
}
