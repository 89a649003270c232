// Many products of small matrices: a block for each, both matrices in shared memory.
// run: --size count=16384 --input A=normal:64*count --input B=normal:64*count --output C=float32:64*count
// run: --size count=262144 --input A=normal:64*count --input B=normal:64*count --output C=float32:64*count
#define SIDE 8
// launch: batched<float, SIDE><<<count, dim3(SIDE, SIDE)>>>(A, B, C)

template <typename T, int N>
__global__ void batched(const T* A, const T* B, T* C) {
  __shared__ T a[N][N], b[N][N + 1];
  const int place = blockIdx.x * N * N + threadIdx.y * N + threadIdx.x;
  a[threadIdx.y][threadIdx.x] = A[place];
  b[threadIdx.y][threadIdx.x] = B[place];
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
  C[place] = sum;
}
template __global__ void batched<float, SIDE>(const float*, const float*, float*);
