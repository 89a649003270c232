// The forces of n bodies on each other: every thread reads all bodies from global memory.
// run: --size n=8192 --input x=normal:4*n --output y=float32:4*n
// run: --size n=32768 --input x=normal:4*n --output y=float32:4*n
// launch: bodies<<<ceil_div(n, 128), 128>>>(y, x, n)

__device__ float4 add_pull(float4 force, float4 here, float4 there)
{
    const float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
    const float nearness = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float pull = there.w * nearness * nearness * nearness;
    return make_float4(force.x + dx * pull, force.y + dy * pull, force.z + dz * pull, force.w);
}

__global__ void bodies(float4* y, const float4* x, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float4 here = x[i];
    float4 force = make_float4(0.0f, 0.0f, 0.0f, here.w);
    for (int k = 0; k < n; k++)
        force = add_pull(force, here, x[k]);
    y[i] = force;
}
