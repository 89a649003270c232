// Matrix transpose: out[x][y] = in[y][x].
//
//   in    rows x cols floats, row after row:  in[y][x]  is  in[y * cols + x]
//   out   cols x rows floats, row after row:  out[x][y] is out[x * rows + y]
//
// The file has two kernels. The first is the baseline. The second is yours: it is correct, but its accesses to
// shared memory have bank conflicts. Remove them, then make it fast. README.md of the exercise explains how.

#define TILE 32  // a block transposes a tile of TILE x TILE elements ...
#define ROWS 8   // ... with TILE x ROWS threads, so that each thread moves TILE / ROWS elements

// The grader launches the kernel by this line (several such lines run in order). It may use the names in, out, rows
// and cols, your own #defines, ceil_div, min, max and + - * / %. Change it if you change the kernel.
//
// launch: transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)

// The baseline. The 32 threads of a warp differ in threadIdx.x, so they read 32 neighbours of a row: a 128-byte line,
// fully used. But they write down a column of `out`: 32 elements that lie 4 * rows bytes apart. Each write moves a
// 32-byte sector for only 4 bytes.
__global__ void transpose_naive(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            out[(size_t)x * rows + (y + j)] = in[(size_t)(y + j) * cols + x];
}

// Yours. It writes a tile in shared memory row by row, and reads it column by column. Reads and writes of global memory
// both run along rows. Access by columns is as fast as by rows in shared memory, if the 32 threads of a warp access 32
// different banks. Which banks do they access here?
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];

    // In: thread (threadIdx.x, threadIdx.y) reads the elements (y, x), (y + ROWS, x), ... of this block's tile.
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)  // at the edges a tile extends beyond the matrix
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];

    __syncthreads();  // what follows reads elements that other threads of the block wrote

    // Out: the tile (blockIdx.y, blockIdx.x) of `in` is the tile (blockIdx.x, blockIdx.y) of `out`, whose rows are
    // `rows` long. With threadIdx.x, the access moves along a row of `out`, and down a column of `tile`.
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols)
            out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
