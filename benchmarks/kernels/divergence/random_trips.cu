// Loops of random length, up to `longest` rounds: a warp goes on for its longest lane.
// run: --size n=1048576 --size longest=64 --input x=normal:n --output y=float32:n
// run: --size n=1048576 --size longest=1024 --input x=normal:n --output y=float32:n
// run: --size n=8388608 --size longest=128 --input x=normal:n --output y=float32:n
// launch: random_trips<<<n / 256, 256>>>(y, x, longest)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void random_trips(float* y, const float* x, int longest)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int trips = mix(i) & (longest - 1);
    float value = x[i];
    for (int k = 0; k < trips; k++)
        value = value * 0.99f + 0.01f * k;
    y[i] = value;
}
