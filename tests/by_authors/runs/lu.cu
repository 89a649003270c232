// An LU decomposition in place, without pivots: a launch for the column, one for what is below it.
// launch: for (int k = 0; k + 1 < n; ++k) {
// launch:     divide<<<ceil_div(n - k - 1, 64), 64>>>(A, n, k);
// launch:     subtract<<<dim3(ceil_div(n - k - 1, 16), ceil_div(n - k - 1, 16)), dim3(16, 16)>>>(A, n, k);
// launch: }

__global__ void divide(double* A, int n, int k) {
  int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) A[i * n + k] /= A[k * n + k];
}

__global__ void subtract(double* A, int n, int k) {
  int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) A[i * n + j] -= A[i * n + k] * A[k * n + j];
}
