// A vector scaled in place, four floats per thread: every line that is read is written back.
// run: --size n=8388608 --output x=normal:n --scalar alpha=0.5
// run: --size n=67108864 --output x=normal:n --scalar alpha=0.5
// launch: scale_in_place<<<ceil_div(n, 4 * 256), 256>>>(x, alpha, n / 4)

__global__ void scale_in_place(float4* x, float alpha, int quads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    x[i] = make_float4(alpha * v.x, alpha * v.y, alpha * v.z, alpha * v.w);
}
