// The forces of n bodies on each other: a block reads 256 of them into shared memory at a time.
// run: --size n=16384 --input x=normal:4*n --output y=float32:4*n
// run: --size n=50688 --input x=normal:4*n --output y=float32:4*n
// launch: bodies_tiled<<<n / 256, 256>>>(y, x, n)

#define THREADS 256

__device__ float4 add_pull(float4 force, float4 here, float4 there)
{
    const float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
    const float nearness = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float pull = there.w * nearness * nearness * nearness;
    return make_float4(force.x + dx * pull, force.y + dy * pull, force.z + dz * pull, force.w);
}

__global__ void bodies_tiled(float4* y, const float4* x, int n)
{
    __shared__ float4 tile[THREADS];
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const float4 here = x[i];
    float4 force = make_float4(0.0f, 0.0f, 0.0f, here.w);
    for (int first = 0; first < n; first += THREADS) {
        tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < THREADS; k++)
            force = add_pull(force, here, tile[k]);
        __syncthreads();
    }
    y[i] = force;
}
