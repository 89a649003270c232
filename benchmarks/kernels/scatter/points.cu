// float4 stored to computed places: half a sector each.
// run: --size n=1048576 --input x=normal:4*n --output y=float32:4*n
// run: --size n=8388608 --input x=normal:4*n --output y=float32:4*n
// launch: points<<<n / 256, 256>>>(y, x, n)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void points(float4* y, const float4* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[place_of(i, n - 1)] = x[i];
}
