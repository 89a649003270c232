// A dot product: warps sum by shuffles, blocks by shared memory, the grid by one atomic a block.
// run: --size n=1048576 --input a=normal:n --input b=normal:n --output result=index:1
// run: --size n=16777216 --input a=normal:n --input b=normal:n --output result=index:1
// launch: dot<<<min(ceil_div(n, 256), 64), 256>>>(a, b, result, n)

__inline__ __device__ float warp_sum(float value) {
  for (int offset = warpSize / 2; offset > 0; offset >>= 1)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void dot(const float* a, const float* b, float* result, int n) {
  static __shared__ float of_warp[32];
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    sum = fmaf(a[i], b[i], sum);
  sum = warp_sum(sum);
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / warpSize ? of_warp[lane] : 0.0f;
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(result, sum);
  }
}
