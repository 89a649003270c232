// Stencils in double and float with halos: 1-D in shared memory, 2-D five-point, 3-D seven-point with a 3-D block.
// in: a float64[1728] = normal
// in: f float32[1024] = normal
// out: y float64[1728]
// out: z float64[1728]
// out: g float32[1024]
// launch: line<<<7, 256>>>(y, a, 1728)
// launch: volume<<<dim3(3, 3, 3), dim3(4, 4, 4)>>>(z, a, 12)
// launch: blur<<<dim3(2, 2), dim3(16, 16)>>>(g, f, 32)
#define R 3
__constant__ double weights[2 * R + 1] = {0.03125, 0.125, 0.21875, 0.25, 0.21875, 0.125, 0.03125};
__global__ void line(double *y, const double *a, int n) {
    __shared__ double s[256 + 2 * R];
    int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
    s[l] = i < n ? a[i] : 0.0;
    if (threadIdx.x < R) {
        s[l - R] = i >= R ? a[i - R] : 0;
        s[l + blockDim.x] = i + (int)blockDim.x < n ? a[i + blockDim.x] : 0;
    }
    __syncthreads();
    double sum = 0;
    for (int k = -R; k <= R; ++k) sum += weights[k + R] * s[l + k];
    if (i < n) y[i] = sum;
}

__global__ void volume(double *z, const double *a, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= n || y >= n || k >= n) return;
    int i = (k * n + y) * n + x;
    if (x == 0 || y == 0 || k == 0 || x == n - 1 || y == n - 1 || k == n - 1) {
        z[i] = a[i];
        return;
    }
    z[i] = (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n] - 6.0 * a[i]) / 7.0;
}

__global__ void blur(float *g, const float *f, int n) {
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int dy = threadIdx.y; dy < 18; dy += 16)
        for (int dx = threadIdx.x; dx < 18; dx += 16) {
            int gx = min(max((int)blockIdx.x * 16 + dx - 1, 0), n - 1), gy = min(max((int)blockIdx.y * 16 + dy - 1, 0), n - 1);
            tile[dy][dx] = f[gy * n + gx];
        }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    g[y * n + x] = sum / 9;
}
