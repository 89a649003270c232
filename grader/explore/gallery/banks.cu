// Reads of shared memory. Every kernel is one exhibit of `grade gallery banks`: its first comment line is its title, its launch
// line runs it, `p` is what a thread reads, and `place` keeps the address for the picture.

__device__ int thread() { return threadIdx.x + blockDim.x * threadIdx.y; }

template <typename Tile> __device__ void fill(Tile &tile, const float *in) {
    float *words = (float *)&tile;
    const int count = sizeof tile / sizeof *words;
    #pragma unroll 1
    for (int i = thread(); i < count; i += blockDim.x * blockDim.y)
        words[i] = in[i];
    __syncthreads();
}

// A row: 32 words that follow one another lie in 32 banks.
// launch: row<<<1, 32>>>(in, out, place)
__global__ void row(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][32];
    fill(tile, in);
    const float *p = &tile[0][threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// A column where rows have 32 words: all of them in one bank.
// launch: column_of_32<<<1, 32>>>(in, out, place)
__global__ void column_of_32(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][32];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Rows of 33 words: each row begins one bank further on.
// launch: column_of_33<<<1, 32>>>(in, out, place)
__global__ void column_of_33(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][33];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Rows of 34 words: two banks further on, so only 16 banks are used.
// launch: column_of_34<<<1, 32>>>(in, out, place)
__global__ void column_of_34(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][34];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Rows of 36 words: four banks further on, so only 8 banks are used.
// launch: column_of_36<<<1, 32>>>(in, out, place)
__global__ void column_of_36(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][36];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Rows of 40 words: eight banks further on, so only 4 banks are used.
// launch: column_of_40<<<1, 32>>>(in, out, place)
__global__ void column_of_40(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][40];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// One more row, tile[33][32], moves no column to another bank.
// launch: row_too_many<<<1, 32>>>(in, out, place)
__global__ void row_too_many(const float *in, float *out, size_t *place) {
    __shared__ float tile[33][32];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// All lanes read the same word: one wavefront serves them all.
// launch: broadcast<<<1, 32>>>(in, out, place)
__global__ void broadcast(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][32];
    fill(tile, in);
    const float *p = &tile[0][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Two different words of one bank, each for half of the lanes.
// launch: two_words_of_a_bank<<<1, 32>>>(in, out, place)
__global__ void two_words_of_a_bank(
    const float *in, float *out, size_t *place) {
    __shared__ float tile[32][32];
    fill(tile, in);
    const float *p = &tile[threadIdx.x % 2][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Every second word: 16 banks, two words in each.
// launch: stride_2<<<1, 32>>>(in, out, place)
__global__ void stride_2(const float *in, float *out, size_t *place) {
    __shared__ float tile[64];
    fill(tile, in);
    const float *p = &tile[2 * threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// A column of a tile whose rows are permuted by XOR: 32 banks without padding.
// launch: swizzle<<<1, 32>>>(in, out, place)
__global__ void swizzle(const float *in, float *out, size_t *place) {
    __shared__ float tile[32][32];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][5 ^ threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// 8 bytes per lane: half a warp at a time, nothing wasted.
// launch: float2_row<<<1, 32>>>(in, out, place)
__global__ void float2_row(const float *in, float2 *out, size_t *place) {
    __shared__ float2 tile[32];
    fill(tile, in);
    const float2 *p = &tile[threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// 16 bytes per lane: a quarter of a warp at a time, nothing wasted.
// launch: float4_row<<<1, 32>>>(in, out, place)
__global__ void float4_row(const float *in, float4 *out, size_t *place) {
    __shared__ float4 tile[32];
    fill(tile, in);
    const float4 *p = &tile[threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// 16 bytes per lane down a column, rows of 36 words: each quarter of a warp uses 32 banks.
// launch: float4_column<<<1, 32>>>(in, out, place)
__global__ void float4_column(const float *in, float4 *out, size_t *place) {
    __shared__ __align__(16) float tile[32][36];
    fill(tile, in);
    const float4 *p = (const float4 *)&tile[threadIdx.x][0];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// Doubles: half a warp at a time, nothing wasted.
// launch: doubles<<<1, 32>>>(in, out64, place)
__global__ void doubles(const float *in, double *out, size_t *place) {
    __shared__ double tile[32];
    fill(tile, in);
    const double *p = &tile[threadIdx.x];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// A block of 16 x 16 threads reads columns, rows of 17 words: lanes 0 and 31 use the same bank.
// launch: block_of_16_by_17<<<1, dim3(16, 16)>>>(in, out, place)
__global__ void block_of_16_by_17(
    const float *in, float *out, size_t *place) {
    __shared__ float tile[16][17];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][threadIdx.y];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}

// The same block with rows of 18 words: two columns fill each other's gaps.
// launch: block_of_16_by_18<<<1, dim3(16, 16)>>>(in, out, place)
__global__ void block_of_16_by_18(
    const float *in, float *out, size_t *place) {
    __shared__ float tile[16][18];
    fill(tile, in);
    const float *p = &tile[threadIdx.x][threadIdx.y];
    place[thread()] = __cvta_generic_to_shared(p);
    out[thread()] = *p;
}
