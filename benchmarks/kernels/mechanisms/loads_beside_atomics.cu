// Every thread adds a random word of 8 MB to another one of 8 MB: both are in the L2, whose slices
// do the one after the other.
// run: --size n=8388608 --input x=small_integers:2097152:int32 --output y=index:2097152:int32
// launch: loads_beside_atomics<<<n / 256, 256>>>(y, x)

#define WORDS 2097152

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void loads_beside_atomics(int* y, const int* x)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[mix(i + 77777777) % WORDS], x[mix(i) % WORDS]);
}
