// STREAM's triad with one double per thread: two streams read, one written.
// run: --size n=4194304 --input bc=normal:2*n:float64 --output a=float64:n
// run: --size n=16777216 --input bc=normal:2*n:float64 --output a=float64:n
// launch: triad_doubles<<<ceil_div(n, 256), 256>>>(a, bc, n)

__global__ void triad_doubles(double* a, const double* bc, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = bc[i] + 3.0 * bc[n + i];
}
