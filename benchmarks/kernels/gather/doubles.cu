// Doubles of a table at computed places: 8 of a sector's 32 bytes are used.
// run: --size n=4194304 --size m=2097152 --input table=normal:m:float64 --output y=float64:n
// run: --size n=4194304 --size m=33554432 --input table=normal:m:float64 --output y=float64:n
// launch: doubles<<<n / 128, 128>>>(y, table, m)

// A one-to-one mapping of the numbers below a power of two, mask + 1, without any order.
__device__ unsigned place_of(unsigned i, unsigned mask)
{
    i = (i * 2654435761u) & mask;
    i ^= i >> 9;
    i = (i * 2246822519u) & mask;
    return i ^ (i >> 11);
}

__global__ void doubles(double* y, const double* table, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0 * table[place_of(i, m - 1)];
}
