// a jump table in a loop
#define TILE 32
#define ROWS 8

// launch: k<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)
__global__ void k(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    const bool large = rows >= 4096;
    float q = 1; int w = threadIdx.x; for (int i = 0; i < 200; i++) { switch ((w + i) % 8) { case 0: q += 1; break; case 1: q *= 1.5f; break; case 2: q -= 2; break; case 3: q = 1 / q; break; case 4: q = sqrtf(fabsf(q)); break; case 5: q = q * q; break; case 6: q = -q; break; default: q += 3; } } if (q == 12345.678f) out[0] = q;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols) { out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];  }
    
}
