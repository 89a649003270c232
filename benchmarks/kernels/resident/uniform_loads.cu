// All threads read the same words in the same order: a load of one sector for a whole warp.
// run: --size n=1048576 --size m=64 --input w=normal:m --input x=normal:n --output y=float32:n
// run: --size n=4194304 --size m=256 --input w=normal:m --input x=normal:n --output y=float32:n
// launch: uniform_loads<<<n / 256, 256>>>(y, x, w, m)

__global__ void uniform_loads(float* y, const float* x, const float* w, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], least = 1e30f;
    for (int k = 0; k < m; k++) least = fminf(least, fabsf(v - w[k]));
    y[i] = least;
}
