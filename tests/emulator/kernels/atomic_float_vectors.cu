// Additions of float2 and float4 to global memory.
// in: a float32[128] = small
// inout: two float32[8] = zeros
// inout: four float32[8] = zeros
// launch: run<<<1, 32>>>(two, four, a)
__global__ void run(float2* two, float4* four, const float4* a)
{
    const int i = threadIdx.x;
    atomicAdd(&two[i & 3], make_float2(a[i].x, a[i].y));
    atomicAdd(&four[i & 1], a[i]);
}
