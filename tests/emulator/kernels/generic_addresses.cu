// One function reads and writes shared, local and global memory and a __device__ array through a pointer, lane by lane another.
// in: a float32[64] = normal
// out: y float32[64]
// out: z float32[64]
// launch: run<<<1, 64>>>(y, z, a)
__device__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ __noinline__ float get(const float* p, int i) { return p[i]; }
__device__ __noinline__ void put(float* p, int i, float v) { p[i] += v; }
__global__ void run(float* y, float* z, const float* a)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    float own[4] = {a[i], 2, 3, a[63 - i]};
    s[i] = a[i];
    y[i] = 0, z[i] = 0;
    __syncthreads();
    const float* from = i % 4 == 0 ? s : i % 4 == 1 ? own : i % 4 == 2 ? a : table;
    y[i] = get(from, i & 3) + get(own, i & 3) + get(s, i & 3);
    __syncthreads();
    float* to = i % 3 == 0 ? &s[i] : i % 3 == 1 ? own : &z[i];
    put(to, 0, i);
    z[i] += s[i] + own[0];
}
