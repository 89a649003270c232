// How many random points lie in the quarter of a circle: a generator of its own in each thread.
// run: --size threads=262144 --size seed=7 --size draws=100 --output hits=index:1:uint32
// run: --size threads=65536 --size seed=7 --size draws=1000 --output hits=index:1:uint32
// launch: count_hits<<<threads / 64, 64>>>(hits, seed, draws)

struct Lcg {
  unsigned long long state;
  __device__ explicit Lcg(unsigned long long seed) : state(seed * 2862933555777941757ULL + 3037000493ULL) {}
  __device__ float next() {
    state = 6364136223846793005ULL * state + 1442695040888963407ULL;
    return (unsigned)(state >> 40) * (1.0f / 16777216.0f);
  }
};

__global__ void count_hits(unsigned* hits, unsigned seed, int draws) {
  Lcg random(seed + blockIdx.x * blockDim.x + threadIdx.x);
  unsigned count = 0;
  for (int i = 0; i < draws; i++) {
    float x = random.next(), y = random.next();
    count += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f;
  }
  count = __reduce_add_sync(~0u, count);
  if ((threadIdx.x & 31) == 0) atomicAdd(hits, count);
}
