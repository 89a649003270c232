// Keeps the elements above a limit, in their order: ballots give the place in the warp, a scan of
// the warps' counts that in the block, and a scan of the blocks' counts that in the output.
// run: --size n=65536 --scalar limit=0.25 --input x=normal:n --output y=float32:n --output kept=int32:1
// run: --size n=1048576 --scalar limit=0.25 --input x=normal:n --output y=float32:n --output kept=int32:1
#define THREADS 128
// scratch: int counts[ceil_div(n, THREADS)]
// launch: count_kept<<<ceil_div(n, THREADS), THREADS>>>(x, counts, limit, n)
// launch: scan_counts<<<1, 1>>>(counts, kept, ceil_div(n, THREADS))
// launch: compact<<<ceil_div(n, THREADS), THREADS>>>(x, counts, y, limit, n)

__global__ void count_kept(const float* x, int* counts, float limit, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  int count = __syncthreads_count(i < n && x[i] > limit);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
}

__global__ void scan_counts(int* counts, int* kept, int blocks) {
  int sum = 0;
  for (int b = 0; b < blocks; b++) {
    int count = counts[b];
    counts[b] = sum;
    sum += count;
  }
  *kept = sum;
}

__global__ void compact(const float* x, const int* starts, float* y, float limit, int n) {
  __shared__ int of_warp[THREADS / 32];
  int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  bool keep = i < n && x[i] > limit;
  unsigned voted = __ballot_sync(~0u, keep);
  if (lane == 0) of_warp[warp] = __popc(voted);
  __syncthreads();
  int place = starts[blockIdx.x] + __popc(voted & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) place += of_warp[w];
  if (keep) y[place] = x[i];
}
