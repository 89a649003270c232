// Loops of random length, the same for all lanes of a warp: the warps of a block end at different
// times.
// run: --size n=1048576 --size longest=1024 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size longest=256 --input x=normal:n --output y=float32:n
// launch: random_warps<<<n / 256, 256>>>(y, x, longest)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void random_warps(float* y, const float* x, int longest)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int trips = mix(i / 32) & (longest - 1);
    float value = x[i];
    for (int k = 0; k < trips; k++)
        value = value * 0.99f + 0.01f * k;
    y[i] = value;
}
