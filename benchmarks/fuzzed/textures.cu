// Texture and surface objects of every kind that mutants are run with, and the instructions that read and write them.
__global__ void reads(cudaTextureObject_t a, cudaTextureObject_t b, float* y)
{
    const int i = threadIdx.x;
    float x = 0.37f * i - 2;
    y[i] = tex1D<float>(a, x) + tex2D<float>(a, x, y[i]) + tex2DLayered<float>(b, x, y[i], i % 3)
        + tex1Dfetch<float>(b, i) + tex3D<float>(a, x, 1.5f, y[i]);
}

__global__ void components(cudaTextureObject_t a, cudaTextureObject_t b, float4* y)
{
    const int i = threadIdx.x;
    const float4 p = tex2D<float4>(i & 1 ? a : b, 0.5f * i, 1.0f), q = tex2Dgather<float4>(a, 1.0f, 0.3f * i, 2);
    y[i] = make_float4(p.x + q.w, p.y, q.z, tex1DLayered<float4>(b, p.w, i).x);
}

__global__ void surfaces(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int* y)
{
    const int x = threadIdx.x;
    int v = surf2Dread<int>(from, 4 * x, 0, cudaBoundaryModeClamp);
    v += surf2Dread<short>(from, 2 * x, 1, cudaBoundaryModeZero);
    surf2Dwrite(v, to, 4 * x, 0, cudaBoundaryModeZero);
    surf1Dwrite(make_int2(v, x), to, 8 * x, cudaBoundaryModeTrap);
    surf2DLayeredwrite((unsigned char)v, to, x, 2, 1);
    y[x] = v;
}
