// Pitched rows: cudaMallocPitch, cudaMemcpy2D in all directions, and a kernel that uses the pitch.
#include "check.h"
#include <vector>

__global__ void transpose(float *to, size_t to_pitch, const float *from, size_t from_pitch,
                          int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *row = (const float *)((const char *)from + y * from_pitch);
    ((float *)((char *)to + x * to_pitch))[y] = row[x];
}

int main()
{
    const int width = 37, height = 23;
    std::vector<float> a(width * height), b(width * height);
    for (int i = 0; i < width * height; ++i)
        a[i] = i;
    float *x, *y;
    size_t x_pitch, y_pitch;
    CHECK(cudaMallocPitch(&x, &x_pitch, width * sizeof(float), height));
    CHECK(cudaMallocPitch(&y, &y_pitch, height * sizeof(float), width));
    printf("pitches are wide enough and aligned: %d %d\n",
           x_pitch >= width * sizeof(float) && x_pitch % 32 == 0,
           y_pitch >= height * sizeof(float) && y_pitch % 32 == 0);
    CHECK(cudaMemcpy2D(x, x_pitch, a.data(), width * sizeof(float), width * sizeof(float), height,
                       cudaMemcpyHostToDevice));
    transpose<<<dim3(3, 2), dim3(16, 16)>>>(y, y_pitch, x, x_pitch, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(b.data(), height * sizeof(float), y, y_pitch, height * sizeof(float), width,
                       cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < width * height; ++i)
        wrong += b[i] != a[i % height * width + i / height];
    printf("wrong: %d\n", wrong);

    CHECK(cudaMemcpy2DAsync(x, x_pitch, y, y_pitch, 4 * sizeof(float), 10,
                            cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaMemcpy2DAsync(b.data(), width * sizeof(float), x, x_pitch, width * sizeof(float),
                            height, cudaMemcpyDefault, 0));
    CHECK(cudaDeviceSynchronize());
    printf("corner: %g %g %g %g %g\n", b[0], b[1], b[3], b[4], b[width + 1]);
    printf("width over pitch: %s\n",
           cudaGetErrorName(cudaMemcpy2D(x, 8, a.data(), 16, 16, 2, cudaMemcpyHostToDevice)));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return wrong;
}
