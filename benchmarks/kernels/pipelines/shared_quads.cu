// Loads of 16 bytes from shared memory, without conflicts: four wavefronts each.
// run: --size n=540672 --size rounds=64 --output y=float32:n
// run: --size n=2162688 --size rounds=128 --output y=float32:n
// launch: shared_quads<<<n / 256, 256>>>(y, rounds)

#define QUADS 512

__global__ void shared_quads(float* y, int rounds)
{
    __shared__ float4 quads[QUADS];
    for (int k = threadIdx.x; k < QUADS; k += blockDim.x)
        quads[k] = make_float4(k, k + 1, k + 2, k + 3);
    __syncthreads();
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k = 0; k < rounds; k++) {
        const float4 quad = quads[(threadIdx.x + 32 * k) % QUADS];
        sum.x += quad.x;
        sum.y += quad.y;
        sum.z += quad.z;
        sum.w += quad.w;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}
