// A box blur of 31 rows: a thread goes down 128 rows of a column, adds the row that comes in, and
// takes away the one that goes out.
// run: --size h=2048 --size w=2048 --input x=normal:h,w --output y=float32:h,w
// run: --size h=6144 --size w=6144 --input x=normal:h,w --output y=float32:h,w
// launch: running_sum<<<dim3(w / 128, h / 128), 128>>>(y, x, h, w)

#define RADIUS 15
#define ROWS 128

__global__ void running_sum(float* y, const float* x, int h, int w)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * ROWS;
    float sum = 0.0f;
    for (int k = -RADIUS; k < RADIUS; k++)
        sum += x[min(max(first + k, 0), h - 1) * w + col];
    for (int row = first; row < first + ROWS; row++) {
        sum += x[min(row + RADIUS, h - 1) * w + col];
        y[row * w + col] = sum / (2 * RADIUS + 1);
        sum -= x[max(row - RADIUS, 0) * w + col];
    }
}
