// One float4 per thread; the last n % 4 elements are left out.

// launch: vector_add<<<ceil_div(n, 1024), 256>>>(out, a, b, n)

__global__ void vector_add(float* out, const float* a, const float* b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 x = ((const float4*)a)[i], y = ((const float4*)b)[i];
        ((float4*)out)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}
