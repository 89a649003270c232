// Bytes stored to computed places, each place once: the smallest part of a sector there is.
// run: --size n=4194304 --input x=small_integers:n:int8 --output y=int8:n
// run: --size n=67108864 --input x=small_integers:n:int8 --output y=int8:n
// launch: bytes<<<n / 256, 256>>>(y, x, n)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void bytes(signed char* y, const signed char* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[place_of(i, n - 1)] = x[i];
}
