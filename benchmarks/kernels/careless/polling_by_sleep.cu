// Threads that look at a value again and again, and sleep in between.
// run: --size n=33792 --size turns=100 --size ns=200 --output y=float32:n
// run: --size n=33792 --size turns=100 --size ns=1000 --output y=float32:n
// run: --size n=1048576 --size turns=4 --size ns=1000 --output y=float32:n
// run: --size n=1048576 --size turns=1 --size ns=10000 --output y=float32:n
// run: --size n=270336 --size turns=2 --size ns=50000 --output y=float32:n
// launch: polling_by_sleep<<<n / 256, 256>>>(y, turns, ns)

__global__ void polling_by_sleep(float* y, int turns, int ns)
{
    volatile float* own = y + blockIdx.x * 256 + threadIdx.x;
    *own = 0;
    for (int k = 0; k < turns; k++) {
        *own = *own + 1;
        __nanosleep(ns);
    }
}
