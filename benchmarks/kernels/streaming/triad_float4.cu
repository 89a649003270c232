// STREAM's triad with one float4 per thread: 16-byte loads and stores, few instructions per byte.
// run: --size n=8388608 --input b=normal:n --input c=normal:n --output a=float32:n
// run: --size n=33554432 --input b=normal:n --input c=normal:n --output a=float32:n
// launch: triad_float4<<<ceil_div(n, 4 * 256), 256>>>(a, b, c, n / 4)

__global__ void triad_float4(float4* a, const float4* b, const float4* c, int quads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 p = b[i], q = c[i];
    p.x += 3.0f * q.x;
    p.y += 3.0f * q.y;
    p.z += 3.0f * q.z;
    p.w += 3.0f * q.w;
    a[i] = p;
}
