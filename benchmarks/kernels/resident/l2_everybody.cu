// Every block reads the whole of an array: each line goes to every SM, out of the L2.
// run: --size n=262144 --size blocks=264 --input x=normal:n --output y=float32:blocks*512
// run: --size n=2097152 --size blocks=264 --input x=normal:n --output y=float32:blocks*512
// launch: l2_everybody<<<blocks, 512>>>(y, x, n / 4)

__global__ void l2_everybody(float* y, const float4* x, int quads)
{
    float sum = 0;
    for (int k = threadIdx.x; k < quads; k += 512) {
        float4 v = x[k];
        sum += v.x * v.y + v.z * v.w;
    }
    y[blockIdx.x * 512 + threadIdx.x] = sum + blockIdx.x;
}
