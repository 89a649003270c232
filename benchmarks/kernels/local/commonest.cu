// The commonest of 64 values per thread: 64 counters in local memory are read and incremented.
// run: --size n=65536 --input x=small_integers:64*n:int8 --output y=int32:n
// run: --size n=524288 --input x=small_integers:64*n:int8 --output y=int32:n
// launch: commonest<<<n / 256, 256>>>(y, x, n)

__global__ void commonest(int* y, const signed char* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    int count[64] = {};
    for (int k = 0; k < 64; k++) count[x[k * n + i] & 63]++;
    for (int v = 1; v < 64; v++)
        if (count[v] > count[best]) best = v;
    y[i] = best;
}
