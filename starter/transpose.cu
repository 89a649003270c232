// Matrix transpose: out[x][y] = in[y][x].
//
//   in    rows x cols floats, row after row:  in[y][x]  is  in[y * cols + x]
//   out   cols x rows floats, row after row:  out[x][y] is out[x * rows + y]
//
// Two kernels are below. The first one is the yardstick. The second one is yours: it is already right,
// but its shared-memory accesses collide. Mend it, then make it fast. README.md of the exercise explains how.

#define TILE 32  // a block transposes a tile of TILE x TILE elements ...
#define ROWS 8   // ... with TILE x ROWS threads, so that every thread moves TILE / ROWS elements

// The grader launches what this line says (several such lines run in order). It may use the names in, out, rows
// and cols, your own #defines, ceil_div, min, max and + - * / %. Change it whenever you change the kernel.
//
// launch: transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out, in, rows, cols)

// The yardstick. The 32 threads of a warp differ in threadIdx.x, so they read 32 neighbours of one row: one 128-byte
// line, fully used. But they write down a column of `out`: 32 places that lie 4 * rows bytes apart, each of which
// drags a 32-byte sector along for the sake of 4 bytes.
__global__ void transpose_naive(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)
            out[(size_t)x * rows + (y + j)] = in[(size_t)(y + j) * cols + x];
}

// Yours. It goes through a tile in shared memory: row by row in, column by column out. Reads and writes of global
// memory are both along rows now, and the crooked access happens in shared memory, which does not mind - as long as
// the 32 threads of a warp ask 32 different banks. Which banks do they ask here?
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];

    // In: thread (threadIdx.x, threadIdx.y) reads the elements (y, x), (y + ROWS, x), ... of this block's tile.
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < cols && y + j < rows)  // at the ragged edges a tile hangs over the matrix
            tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];

    __syncthreads();  // what follows reads elements that other threads of the block wrote

    // Out: the tile (blockIdx.y, blockIdx.x) of `in` is the tile (blockIdx.x, blockIdx.y) of `out`, whose rows are
    // `rows` long. Mind which index moves with threadIdx.x: along a row of `out`, and down a column of `tile`.
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < rows && y + j < cols)
            out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
