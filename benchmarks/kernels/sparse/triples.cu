// A sparse matrix times a vector: a thread per value with its row and column (COO), both random; an
// atomic each.
// run: --size n=262144 --size m=16 --input A=normal:n,m --input x=normal:n --output y=index:n
// run: --size n=4194304 --size m=4 --input A=normal:n,m --input x=normal:n --output y=index:n
// launch: triples<<<n * m / 256, 256>>>(y, A, x, n, m)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void triples(float* y, const float* A, const float* x, unsigned n, int m)
{
    const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&y[mix(k) & (n - 1)], A[k] * x[mix(k + n * m) & (n - 1)]);
}
