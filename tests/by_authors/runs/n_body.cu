// Bodies that attract each other: positions go through shared memory in tiles, and then all move.
#define TILE 64
constexpr float SOFTENING = 1e-3f;
// launch: for (int step = 0; step < steps; ++step) {
// launch:     push<<<ceil_div(n, TILE), TILE>>>(bodies, speeds, n, 0.01f);
// launch:     move<<<ceil_div(n, TILE), TILE>>>(bodies, speeds, n, 0.01f);
// launch: }

__device__ float3 attract(float3 pull, float4 a, float4 b) {
  float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + SOFTENING);
  float s = b.w * inverse * inverse * inverse;
  return make_float3(pull.x + dx * s, pull.y + dy * s, pull.z + dz * s);
}

__global__ void push(const float4* bodies, float4* speeds, int n, float dt) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * TILE + threadIdx.x;
  float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 pull = {0, 0, 0};
  for (int start = 0; start < n; start += TILE) {
    int j = start + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < TILE; ++k) pull = attract(pull, mine, tile[k]);
    __syncthreads();
  }
  if (i < n) {
    float4 v = speeds[i];
    speeds[i] = make_float4(v.x + dt * pull.x, v.y + dt * pull.y, v.z + dt * pull.z, v.w);
  }
}

__global__ void move(float4* bodies, const float4* speeds, int n, float dt) {
  int i = blockIdx.x * TILE + threadIdx.x;
  if (i >= n) return;
  bodies[i].x += dt * speeds[i].x;
  bodies[i].y += dt * speeds[i].y;
  bodies[i].z += dt * speeds[i].z;
}
