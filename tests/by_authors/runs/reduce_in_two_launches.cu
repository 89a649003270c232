// The sum of an array: one partial sum a block, then one block for the partial sums.
// run: --size n=1048576 --input x=normal:n --output total=float32:1
// run: --size n=16777216 --input x=normal:n --output total=float32:1
#define THREADS 256
#define BLOCKS 32
// scratch: float partial[BLOCKS]
// launch: reduce<THREADS><<<BLOCKS, THREADS>>>(x, partial, n)
// launch: reduce<BLOCKS><<<1, BLOCKS>>>(partial, total, BLOCKS)

template <int SIZE>
__global__ void reduce(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float sums[SIZE];
  float sum = 0.0f;
  for (int i = blockIdx.x * SIZE + threadIdx.x; i < n; i += gridDim.x * SIZE) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = SIZE / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
template __global__ void reduce<THREADS>(const float*, float*, int);
template __global__ void reduce<BLOCKS>(const float*, float*, int);
