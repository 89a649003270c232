// Conditions combined from comparisons.
// in: a int32[1024] = edges
// in: b int32[1024] = edges2
// in: c int32[1024] = random
// out: y int32[1024]
// out: z int32[1024]
// out: w int32[1024]
// launch: int_predicates<<<4, 256>>>(y, z, w, a, b, c)
__global__ void int_predicates(int* y, int* z, int* w, const int* a, const int* b, const int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = (a[i] < b[i] && b[i] < c[i]) || (a[i] == c[i] && !(b[i] > 3)) ? a[i] : b[i];
    z[i] = (a[i] < b[i]) ^ (b[i] < c[i]) ^ (a[i] & 1 ? 1 : 0);
    w[i] = ((a[i] > 5) + (b[i] > 5) + (c[i] > 5)) * (a[i] != b[i]);
}
