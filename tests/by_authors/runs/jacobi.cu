// Jacobi's iteration for Laplace's equation on a square, and the largest change of the last step.
// scratch: double next[n * n]
// launch: cudaMemcpy(next, u, n * n * sizeof(double), cudaMemcpyDeviceToDevice)
// launch: cudaMemset(change, 0, sizeof(unsigned long long))
// launch: for (int step = 0; step < steps; step += 2) {
// launch:     relax<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(u, next, n, change, 0);
// launch:     relax<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(next, u, n, change, step + 2 >= steps);
// launch: }

__global__ void relax(const double* u, double* next, int n, unsigned long long* change, bool last) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  double value = 0.25 * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]);
  next[y * n + x] = value;
  if (last) atomicMax(change, (unsigned long long)__double_as_longlong(fabs(value - u[y * n + x])));
}
