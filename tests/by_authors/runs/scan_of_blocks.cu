// An exclusive prefix sum after Blelloch: each block scans its part, one block scans the sums of the
// blocks, and the sums are added. Indices are padded, so that no two banks meet.
// run: --size n=65536 --input x=small_integers:n:int32 --output y=int32:n
// run: --size n=262144 --input x=small_integers:n:int32 --output y=int32:n
#define PART 512
#define PADDED(i) ((i) + ((i) >> 5))
// scratch: int sums[ceil_div(n, PART)]
// scratch: int starts[ceil_div(n, PART)]
// scratch: int unused[1]
// launch: scan_part<<<ceil_div(n, PART), PART / 2, (PART + PART / 32) * 4>>>(y, x, sums, n)
// launch: scan_part<<<1, PART / 2, (PART + PART / 32) * 4>>>(starts, sums, unused, ceil_div(n, PART))
// launch: add_starts<<<ceil_div(n, PART), PART>>>(y, starts, n)

__global__ void scan_part(int* out, const int* in, int* sums, int n) {
  extern __shared__ int part[];
  int t = threadIdx.x, start = blockIdx.x * PART;
  int a = t, b = t + PART / 2;
  part[PADDED(a)] = start + a < n ? in[start + a] : 0;
  part[PADDED(b)] = start + b < n ? in[start + b] : 0;
  int stride = 1;
  for (int d = PART / 2; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int left = PADDED(stride * (2 * t + 1) - 1), right = PADDED(stride * (2 * t + 2) - 1);
      part[right] += part[left];
    }
    stride *= 2;
  }
  if (t == 0) {
    sums[blockIdx.x] = part[PADDED(PART - 1)];
    part[PADDED(PART - 1)] = 0;
  }
  for (int d = 1; d < PART; d *= 2) {
    stride >>= 1;
    __syncthreads();
    if (t < d) {
      int left = PADDED(stride * (2 * t + 1) - 1), right = PADDED(stride * (2 * t + 2) - 1);
      int kept = part[left];
      part[left] = part[right];
      part[right] += kept;
    }
  }
  __syncthreads();
  if (start + a < n) out[start + a] = part[PADDED(a)];
  if (start + b < n) out[start + b] = part[PADDED(b)];
}

__global__ void add_starts(int* out, const int* starts, int n) {
  int i = blockIdx.x * PART + threadIdx.x;
  if (i < n) out[i] += starts[blockIdx.x];
}
