// One step of k-means on points of the plane: each finds its nearest centre, the centres become the
// means of their points. Sums are of fixed-point numbers, so that no order of atomics shows.
// run: --size n=262144 --input points=normal:2*n --input centres=normal:16 --output labels=int32:n --output moved=float32:16
// run: --size n=2097152 --input points=normal:2*n --input centres=normal:16 --output labels=int32:n --output moved=float32:16
#define K 8
// scratch: unsigned long long sums[2 * K]
// scratch: unsigned int counts[K]
// launch: clear<<<1, 2 * K>>>(sums, counts)
// launch: assign<<<ceil_div(n, 128), 128>>>(points, centres, labels, sums, counts, n)
// launch: update<<<1, K>>>(centres, sums, counts, moved)

__global__ void clear(unsigned long long* sums, unsigned* counts) {
  sums[threadIdx.x] = 0;
  if (threadIdx.x < K) counts[threadIdx.x] = 0;
}

__global__ void assign(const float2* points, const float2* centres, int* labels,
                       unsigned long long* sums, unsigned* counts, int n) {
  __shared__ float2 near[K];
  __shared__ unsigned long long sum[2 * K];
  __shared__ unsigned count[K];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < K) {
    near[t] = centres[t];
    sum[t] = sum[K + t] = 0;
    count[t] = 0;
  }
  __syncthreads();
  if (i < n) {
    float2 p = points[i];
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < K; k++) {
      float dx = p.x - near[k].x, dy = p.y - near[k].y, d = dx * dx + dy * dy;
      if (d < least) least = d, best = k;
    }
    labels[i] = best;
    atomicAdd(&sum[best], (unsigned long long)__float2ll_rn(p.x * 65536.0f));
    atomicAdd(&sum[K + best], (unsigned long long)__float2ll_rn(p.y * 65536.0f));
    atomicAdd(&count[best], 1u);
  }
  __syncthreads();
  if (t < K && count[t]) {
    atomicAdd(&sums[t], sum[t]);
    atomicAdd(&sums[K + t], sum[K + t]);
    atomicAdd(&counts[t], count[t]);
  }
}

__global__ void update(const float2* centres, const unsigned long long* sums,
                       const unsigned* counts, float2* moved) {
  int k = threadIdx.x;
  float scale = counts[k] ? 1.0f / (65536.0f * counts[k]) : 0.0f;
  moved[k] = counts[k] ? make_float2((long long)sums[k] * scale, (long long)sums[K + k] * scale)
                       : centres[k];
}
