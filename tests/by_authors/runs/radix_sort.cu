// A stable sort by digits of four bits: counts of each block and digit, their scan (digits first),
// and the scatter, in which a thread counts the equal digits before it by ballots.
constexpr int BITS = 4, DIGITS = 1 << BITS, THREADS = 128;
// scratch: unsigned a[n]
// scratch: unsigned b[n]
// scratch: int counts[DIGITS * ceil_div(n, THREADS)]
// launch: cudaMemcpy(a, x, n * sizeof(unsigned), cudaMemcpyDeviceToDevice)
// launch: for (int shift = 0; shift < 16; shift += BITS) {
// launch:     count<<<ceil_div(n, THREADS), THREADS>>>(a, counts, n, shift);
// launch:     scan<<<1, 32>>>(counts, DIGITS * ceil_div(n, THREADS));
// launch:     scatter<<<ceil_div(n, THREADS), THREADS>>>(a, b, counts, n, shift);
// launch:     std::swap(a, b);
// launch: }
// launch: cudaMemcpy(y, a, n * sizeof(unsigned), cudaMemcpyDeviceToDevice)

__device__ int digit_of(unsigned key, int shift) { return (key >> shift) & (DIGITS - 1); }

__global__ void count(const unsigned* keys, int* counts, int n, int shift) {
  __shared__ int mine[DIGITS];
  if (threadIdx.x < DIGITS) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) atomicAdd(&mine[digit_of(keys[i], shift)], 1);
  __syncthreads();
  if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

__global__ void scan(int* counts, int n) {
  int before = 0;
  for (int start = 0; start < n; start += 32) {
    int i = start + threadIdx.x, value = i < n ? counts[i] : 0, sum = value;
    for (int d = 1; d < 32; d *= 2) {
      int left = __shfl_up_sync(~0u, sum, d);
      if (threadIdx.x >= d) sum += left;
    }
    if (i < n) counts[i] = before + sum - value;
    before += __shfl_sync(~0u, sum, 31);
  }
}

__global__ void scatter(const unsigned* from, unsigned* to, const int* starts, int n, int shift) {
  __shared__ int of_warp[THREADS / 32][DIGITS];
  int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned key = i < n ? from[i] : 0;
  int digit = i < n ? digit_of(key, shift) : -1;
  int before = 0;
  for (int d = 0; d < DIGITS; ++d) {
    unsigned same = __ballot_sync(~0u, digit == d);
    if (lane == 0) of_warp[warp][d] = __popc(same);
    if (digit == d) before = __popc(same & ((1u << lane) - 1));
  }
  __syncthreads();
  if (i >= n) return;
  for (int w = 0; w < warp; ++w) before += of_warp[w][digit];
  to[starts[digit * gridDim.x + blockIdx.x] + before] = key;
}
