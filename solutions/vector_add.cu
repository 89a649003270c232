// Reference solution of the exercise "vector_add": float4, several in flight, a grid-stride loop.
//
// An addition needs 12 bytes of memory traffic, so the memory must always be busy.
//
//   - A float4 moves 16 bytes with one instruction, and neighbouring threads use neighbouring float4.
//   - A thread loads EACH float4 of each vector before it stores the first sum.
//   - The number of blocks has a limit: in a longer vector, a thread goes on in strides of the whole grid.
//   - No element is used twice, so that loads and stores ask the caches not to keep them.

#define THREADS 256
#define EACH 2        // float4 of each vector that a thread has in flight
#define BLOCKS 33792  // 256 for each of the 132 multiprocessors of an H100

// launch: vector_add<<<min(BLOCKS, ceil_div(n, 4 * EACH * THREADS)), THREADS>>>(out, a, b, n)

__device__ float4 add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void __launch_bounds__(THREADS) vector_add(float* out, const float* a, const float* b, int n)
{
    const float4* a4 = reinterpret_cast<const float4*>(a);
    const float4* b4 = reinterpret_cast<const float4*>(b);
    float4* out4 = reinterpret_cast<float4*>(out);
    const int quads = n / 4, stride = gridDim.x * THREADS, first = blockIdx.x * THREADS + threadIdx.x;
    int i = first;
    for (; i < quads - (EACH - 1) * stride; i += EACH * stride) {
        float4 left[EACH], right[EACH];
        #pragma unroll
        for (int j = 0; j < EACH; j++) {  // survives: the compiler removes a load that nothing uses
            left[j] = __ldcs(&a4[i + j * stride]);
            right[j] = __ldcs(&b4[i + j * stride]);
        }
        #pragma unroll
        for (int j = 0; j < EACH; j++) __stcs(&out4[i + j * stride], add(left[j], right[j]));
    }
    for (; i < quads; i += stride) out4[i] = add(a4[i], b4[i]);
    if (first < n - 4 * quads) out[4 * quads + first] = a[4 * quads + first] + b[4 * quads + first];
}
