// A convolution with the filter in constant memory, for several sizes of the image.
#include "check.h"
#include <vector>

const int RADIUS = 2, SIZE = 2 * RADIUS + 1;
__constant__ float filter[SIZE][SIZE];

__global__ void convolve(const float *image, float *result, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                sum += filter[dy + RADIUS][dx + RADIUS] * image[(y + dy) * width + x + dx];
    result[y * width + x] = sum;
}

int main()
{
    float host_filter[SIZE][SIZE];
    for (int i = 0; i < SIZE * SIZE; ++i)
        host_filter[i / SIZE][i % SIZE] = (i % 5 - 2) * 0.25f;
    CHECK(cudaMemcpyToSymbol(filter, host_filter, sizeof(host_filter)));
    for (int width : {17, 64, 100}) {
        int height = width / 2 + 3;
        std::vector<float> image(width * height), result(width * height);
        for (size_t i = 0; i < image.size(); ++i)
            image[i] = i * i % 31;
        float *from, *to;
        CHECK(cudaMalloc(&from, image.size() * 4));
        CHECK(cudaMalloc(&to, image.size() * 4));
        CHECK(cudaMemcpy(from, image.data(), image.size() * 4, cudaMemcpyHostToDevice));
        dim3 block(16, 8), grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
        convolve<<<grid, block>>>(from, to, width, height);
        CHECK(cudaMemcpy(result.data(), to, image.size() * 4, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (float value : result)
            sum += value;
        printf("%d x %d: %.2f %.2f sum %.2f\n", width, height, result[0], result[width + 5], sum);
        CHECK(cudaFree(from));
        CHECK(cudaFree(to));
    }
    return 0;
}
