// A histogram of bytes: each block counts in shared memory, and adds what it has to the whole.
// run: --size n=1048576 --input text=index:n:uint8 --output counts=index:256:uint32
// run: --size n=8388608 --input text=index:n:uint8 --output counts=index:256:uint32
// launch: histogram<<<16, 256>>>(text, counts, n)
typedef unsigned char uchar;
typedef unsigned int uint;

__global__ void histogram(const uchar* text, uint* counts, int n) {
  __shared__ uint mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&mine[text[i]], 1u);
  __syncthreads();
  if (mine[threadIdx.x]) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
