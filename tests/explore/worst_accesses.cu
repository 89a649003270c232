// Accesses that take more than they need, one kind a line; tests name the lines by their comments.
// launch: columns<<<1, 32>>>(out)
// launch: partial<<<dim3(1, 2), dim3(8, 5)>>>(out, 5)
// launch: atomics<<<1, 32>>>(out, places)
// launch: matrices<<<1, 32>>>(out)
// launch: scattered<<<2, 64>>>(out, in, places)
// launch: dynamic<<<1, 32, 4096>>>(out)

__global__ void columns(float *out) {
  __shared__ float tile[32][32];
  __shared__ double wide[32][16];
  __shared__ float4 quads[32][8];
  int i = threadIdx.x;
  for (int j = 0; j < 32; ++j) tile[j][i] = i;
  for (int j = 0; j < 16; ++j) wide[i][(j + i) % 16] = i;
  for (int j = 0; j < 8; ++j) quads[i][(j + i) % 8] = make_float4(i, j, 0, 0);
  __syncthreads();
  out[i] = tile[i][3];                              // a column of words
  out[32 + i] = (float)wide[i][1];                  // a column of doubles
  const float4 *place = i < 16 ? &quads[0][i / 2] : &quads[i][2];
  float4 a = *place;                                // pairs, and a column
  out[64 + i] = a.x + a.y + a.z + a.w;
}

__global__ void partial(float *out, int n) {
  __shared__ float high[40][32];
  int i = threadIdx.x + blockDim.x * threadIdx.y;
  for (int j = 0; j < 32; ++j) high[i][(j + i) % 32] = i;
  __syncthreads();
  if (blockIdx.y == 1 && i >= 32 && i < 32 + n)
    out[i] = high[i][7];                            // five lanes of a column
}

__global__ void atomics(float *out, const int *places) {
  __shared__ int bins[1024];
  int i = threadIdx.x;
  for (int j = 0; j < 32; ++j) bins[32 * j + i] = 0;
  __syncthreads();
  atomicAdd(&bins[places[i] % 2], places[32 + i]);  // lanes meet
  atomicCAS(&bins[32 * i], 0, places[i]);           // a bank, twice
  __syncthreads();
  out[i] = bins[i];
}

__global__ void matrices(float *out) {
  __shared__ __align__(128) short rows[32][64];
  int i = threadIdx.x;
  for (int j = 0; j < 64; ++j) rows[i][(j + 2 * i) % 64] = j;
  __syncthreads();
  unsigned a, b, c, d, row = (unsigned)__cvta_generic_to_shared(&rows[i][0]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(row));  // rows of matrices
  out[i] = a + b + c + d;
}

__global__ void scattered(float *out, const float *in, const int *places) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float apart[16];
  for (int j = 0; j < 16; ++j) apart[j] = i + j;
  float kept = apart[places[i % 64] % 16];          // local memory
  float strided = in[i * 16];                       // a stride
  float shifted = in[i + 1];                        // shifted
  float same = in[blockIdx.x];                      // broadcast
  out[200 + i] = kept + strided + shifted + same;
}

__global__ void dynamic(float *out) {
  extern __shared__ float rest[];
  int i = threadIdx.x;
  for (int j = 0; j < 32; ++j) rest[32 * j + i] = j;
  __syncthreads();
  out[i] = rest[32 * i];                             // of dynamic shared memory
}
