// XOR swizzle on a flat array, 32 x 8 threads. Only a clock tells: 65 % of the peak on an H100.
// expect without a model: passed, only a clock tells (65 % of an H100's peak bandwidth, 80 % are asked)
#define DIM 32
#define SWIZZLE(row, col) ((row) * DIM + ((col) ^ (row)))
// launch: kernel<<<dim3(ceil_div(cols, DIM), ceil_div(rows, DIM)), dim3(DIM, DIM / 4)>>>(in, out, rows, cols)

extern "C" __global__ void kernel(const float* in, float* out, int rows, int cols)
{
	__shared__ float smem[DIM * DIM];
	int bx = blockIdx.x * DIM;
	int by = blockIdx.y * DIM;
	int t;

	for (t = threadIdx.y; t < DIM; t += blockDim.y)
		if (by + t < rows && bx + threadIdx.x < cols)
			smem[SWIZZLE(t, threadIdx.x)] = in[(by + t) * cols + bx + threadIdx.x];
	__syncthreads();
	for (t = threadIdx.y; t < DIM; t += blockDim.y)
		if (bx + t < cols && by + threadIdx.x < rows)
			out[(bx + t) * rows + by + threadIdx.x] = smem[SWIZZLE(threadIdx.x, t)];
}
