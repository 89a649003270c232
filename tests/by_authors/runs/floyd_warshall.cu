// All shortest paths: a launch for each vertex that paths may go through.
// launch: for (int k = 0; k < n; k++) through<<<dim3(ceil_div(n, 16), ceil_div(n, 16)), dim3(16, 16)>>>(distance, n, k);

__global__ void through(int* distance, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n || i == k || j == k) return;
  int via = distance[i * n + k] + distance[k * n + j];
  if (via < distance[i * n + j]) distance[i * n + j] = via;
}
