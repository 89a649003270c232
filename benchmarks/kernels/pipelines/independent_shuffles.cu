// Four numbers per thread go round the warp by shuffles that do not wait for each other.
// run: --size n=1081344 --size rounds=64 --input x=normal:n --output y=float32:n
// run: --size n=8650752 --size rounds=128 --input x=normal:n --output y=float32:n
// launch: independent_shuffles<<<n / 1024, 256>>>(y, x, rounds)

__global__ void independent_shuffles(float4* y, const float4* x, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, next = threadIdx.x + 1;
    float4 value = x[i];
    for (int k = 0; k < rounds; k++) {
        value.x = __shfl_sync(0xffffffffu, value.x, next);
        value.y = __shfl_sync(0xffffffffu, value.y, next + 1);
        value.z = __shfl_sync(0xffffffffu, value.z, next + 2);
        value.w = __shfl_sync(0xffffffffu, value.w, next + 3);
    }
    y[i] = value;
}
