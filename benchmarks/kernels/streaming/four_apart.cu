// Four elements per thread, a block's width apart: independent loads, all of them coalesced.
// run: --size n=8388608 --input x=normal:n --output y=float32:n
// run: --size n=67108864 --input x=normal:n --output y=float32:n
// launch: four_apart<<<n / 1024, 256>>>(y, x)

__global__ void four_apart(float* y, const float* x)
{
    int first = blockIdx.x * 1024 + threadIdx.x;
    float v[4];
    for (int k = 0; k < 4; k++) v[k] = x[first + 256 * k];
    for (int k = 0; k < 4; k++) y[first + 256 * k] = 2.0f * v[k] + 1.0f;
}
