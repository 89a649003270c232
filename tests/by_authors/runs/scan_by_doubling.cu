// An inclusive prefix sum after Hillis and Steele, one launch a step, between two buffers.
// scratch: int y[n]
// scratch: int other[n]
// launch: cudaMemcpy(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice)
// launch: for (int d = 1; d < n; d *= 2) {
// launch:     step<<<ceil_div(n, 256), 256>>>(other, y, n, d); std::swap(y, other);
// launch: }
// launch: cudaMemcpy(result, y, n * sizeof(int), cudaMemcpyDeviceToDevice)

__global__ void step(int* to, const int* from, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i >= d ? from[i] + from[i - d] : from[i];
}
