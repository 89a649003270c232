// Threads that copy `each` words one after another and publish each word with a fence.
// run: --size n=1048576 --size each=1 --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size each=1 --input x=normal:n --output y=float32:n
// run: --size n=1048576 --size each=8 --input x=normal:n --output y=float32:n
// run: --size n=16777216 --size each=8 --input x=normal:n --output y=float32:n
// launch: published_in_steps<<<n / (256 * each), 256>>>(y, x, n, each)

__global__ void published_in_steps(float* y, const float* x, int n, int each)
{
    int i = blockIdx.x * 256 + threadIdx.x, threads = n / each;
    for (int k = 0; k < each; k++) {
        y[i + k * threads] = 2.0f * x[i + k * threads];
        __threadfence();
    }
}
