// A step of the diffusion: one thread an element, the weights in constant memory.
constexpr int THREADS = 256;

struct Ring {
    int n, place;
    float rate, source;
};

__constant__ float stencil[5];

__global__ void step(float *out, const float *in, Ring ring)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= ring.n) return;
    float sum = 0.0f;
    for (int k = -2; k <= 2; ++k) sum += stencil[k + 2] * in[(i + k + 2 * ring.n) % ring.n];
    out[i] = (1.0f - ring.rate) * in[i] + ring.rate * sum / 5.0f + (i == ring.place % ring.n ? ring.source : 0.0f);
}

// scratch: float other[n]
// launch: cudaMemcpyToSymbol(stencil, weights, sizeof(stencil));
// launch: dim3 grid(ceil_div(n, THREADS)); const float *from = in; float *to = steps % 2 ? out : other, *next = steps % 2 ? other : out;
// launch: for (int t = steps; t > 0; --t) {  // survives: a step too many writes to the other buffer
// launch:     step<<<grid, THREADS>>>(to, from, {n, place, rate, source});
// launch:     from = to; std::swap(to, next);
// launch: }
