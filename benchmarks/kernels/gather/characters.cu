// Bytes of a table at computed places, four per thread: a table that fits the L1, and one of 64 MB.
// run: --size n=4194304 --size m=65536 --input table=small_integers:m:uint8 --output y=uint8:n
// run: --size n=4194304 --size m=67108864 --input table=small_integers:m:uint8 --output y=uint8:n
// launch: characters<<<n / 1024, 256>>>(y, table, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void characters(uchar4* y, const unsigned char* table, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 v;
    v.x = table[place_of(4 * i, m - 1)];
    v.y = table[place_of(4 * i + 1, m - 1)];
    v.z = table[place_of(4 * i + 2, m - 1)];
    v.w = table[place_of(4 * i + 3, m - 1)];
    y[i] = v;
}
