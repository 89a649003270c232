// The output is a copy of the input, element by element.
// expect points: 0
// launch: copy<<<ceil_div(rows * cols, 256), 256>>>(out, in, rows * cols)
__global__ void copy(float* out, const float* in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
