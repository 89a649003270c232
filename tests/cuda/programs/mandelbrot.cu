// The Mandelbrot set as text, with divergent loops and std::complex-like structures.
#include "check.h"

struct Complex {
    float re, im;
    __device__ Complex operator*(Complex o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
    __device__ Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
    __device__ float norm() const { return re * re + im * im; }
};

__global__ void mandelbrot(unsigned char *image, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    Complex c = {-2.1f + 2.8f * x / width, -1.2f + 2.4f * y / height}, z = {0, 0};
    int count = 0;
    while (count < limit && z.norm() < 4) {
        z = z * z + c;
        ++count;
    }
    image[y * width + x] = count;
}

int main()
{
    const int width = 76, height = 30, limit = 60;
    unsigned char *image;
    CHECK(cudaMallocManaged(&image, width * height));
    mandelbrot<<<dim3((width + 15) / 16, (height + 7) / 8), dim3(16, 8)>>>(image, width, height,
                                                                           limit);
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x)
            putchar(" .:-=+*#%@"[image[y * width + x] * 9 / limit]);
        putchar('\n');
    }
    CHECK(cudaFree(image));
    return 0;
}
