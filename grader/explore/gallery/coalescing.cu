// Reads of global memory. Every kernel is one exhibit of `grade gallery coalescing`: its first comment line is its title, its
// launch line runs it, `p` is what a thread reads, and `place` keeps the address for the picture.

__device__ int thread() {
    return threadIdx.x + blockDim.x * threadIdx.y
           + blockDim.x * blockDim.y * threadIdx.z;
}

// Each lane reads its own float, one after the other.
// launch: consecutive<<<1, 32>>>(in, out, place)
__global__ void consecutive(const float *in, float *out, size_t *place) {
    const float *p = &in[threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// All lanes read the same float: one sector serves them all.
// launch: broadcast<<<1, 32>>>(in, out, place)
__global__ void broadcast(const float *in, float *out, size_t *place) {
    const float *p = &in[0];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Backwards: the order within a warp does not matter.
// launch: reversed<<<1, 32>>>(in, out, place)
__global__ void reversed(const float *in, float *out, size_t *place) {
    const float *p = &in[31 - threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Shuffled: the order within a warp does not matter.
// launch: shuffled<<<1, 32>>>(in, out, place)
__global__ void shuffled(const float *in, float *out, size_t *place) {
    const float *p = &in[5 * threadIdx.x % 32];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// One lane reads far away from the others: one more sector.
// launch: one_far_away<<<1, 32>>>(in, out, place)
__global__ void one_far_away(const float *in, float *out, size_t *place) {
    const float *p = &in[threadIdx.x == 13 ? 4096 : threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// A row that begins 4 bytes after the start of a sector: part of a fifth sector.
// launch: misaligned_by_4<<<1, 32>>>(in, out, place)
__global__ void misaligned_by_4(
    const float *in, float *out, size_t *place) {
    const float *p = &in[threadIdx.x + 1];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// A row that begins 16 bytes after the start of a sector: a fifth sector too.
// launch: misaligned_by_16<<<1, 32>>>(in, out, place)
__global__ void misaligned_by_16(
    const float *in, float *out, size_t *place) {
    const float *p = &in[threadIdx.x + 4];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Every second float: half of each sector is moved for nothing.
// launch: stride_2<<<1, 32>>>(in, out, place)
__global__ void stride_2(const float *in, float *out, size_t *place) {
    const float *p = &in[2 * threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Every fourth float: three quarters are moved for nothing.
// launch: stride_4<<<1, 32>>>(in, out, place)
__global__ void stride_4(const float *in, float *out, size_t *place) {
    const float *p = &in[4 * threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Every eighth float: a sector for each lane. It cannot get worse.
// launch: stride_8<<<1, 32>>>(in, out, place)
__global__ void stride_8(const float *in, float *out, size_t *place) {
    const float *p = &in[8 * threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Every 32nd float: as many sectors as with 8, in as many lines.
// launch: stride_32<<<1, 32>>>(in, out, place)
__global__ void stride_32(const float *in, float *out, size_t *place) {
    const float *p = &in[32 * threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// A column of a matrix with rows of N = 1024 floats: a sector for each lane.
// launch: column<<<1, 32>>>(in, out, place)
__global__ void column(const float *in, float *out, size_t *place) {
    const int N = 1024;
    const float *p = &in[N * threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Elements of 8 bytes: twice the sectors, twice the bytes, nothing wasted.
// launch: doubles<<<1, 32>>>(in64, out64, place)
__global__ void doubles(const double *in, double *out, size_t *place) {
    const double *p = &in[threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Elements of 16 bytes: four times the sectors, four times the bytes, nothing wasted.
// launch: float4s<<<1, 32>>>(in, out, place)
__global__ void float4s(const float4 *in, float4 *out, size_t *place) {
    const float4 *p = &in[threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// A block of 8 x 2 x 2 threads is one warp: lane = x + 8 y + 16 z. Each row of 8 is a sector.
// launch: box_of_8_2_2<<<1, dim3(8, 2, 2)>>>(in, out, place)
__global__ void box_of_8_2_2(const float *in, float *out, size_t *place) {
    const int N = 1024;
    const float *p = &in[N * (threadIdx.y + 2 * threadIdx.z) + threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// The same block with x for the row: half a sector of each of eight rows.
// launch: box_turned<<<1, dim3(8, 2, 2)>>>(in, out, place)
__global__ void box_turned(const float *in, float *out, size_t *place) {
    const int N = 1024;
    const float *p = &in[N * threadIdx.x + threadIdx.y + 2 * threadIdx.z];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// A block of 16 x 16 threads reads rows: a warp reads two whole sectors of each of two rows.
// launch: rows_of_16<<<1, dim3(16, 16)>>>(in, out, place)
__global__ void rows_of_16(const float *in, float *out, size_t *place) {
    const int N = 1024;
    const float *p = &in[N * threadIdx.y + threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// The same block reads columns: a warp reads two columns, so two floats of each sector.
// launch: columns_of_16<<<1, dim3(16, 16)>>>(in, out, place)
__global__ void columns_of_16(const float *in, float *out, size_t *place) {
    const int N = 1024;
    const float *p = &in[N * threadIdx.x + threadIdx.y];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// The first half of the lanes is active: half of the sectors.
// launch: first_half_active<<<1, 32>>>(in, out, place)
__global__ void first_half_active(
    const float *in, float *out, size_t *place) {
    if (threadIdx.x >= 16) return;
    const float *p = &in[threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}

// Every second lane is active: all sectors, half of each is moved for nothing.
// launch: every_second_active<<<1, 32>>>(in, out, place)
__global__ void every_second_active(
    const float *in, float *out, size_t *place) {
    if (threadIdx.x % 2 == 1) return;
    const float *p = &in[threadIdx.x];
    place[thread()] = (size_t)p;
    out[thread()] = *p;
}
