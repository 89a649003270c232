// Writes an image file, reads it back, rotates it by a texture with filter, and writes the result.
#include "check.h"
#include <cmath>
#include <string>
#include <vector>

__global__ void rotate(cudaTextureObject_t image, unsigned char *result, int width, int height,
                       float sine, float cosine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = x - width / 2.0f, v = y - height / 2.0f;
    float value = tex2D<float>(image, u * cosine - v * sine + width / 2.0f + 0.5f,
                               u * sine + v * cosine + height / 2.0f + 0.5f);
    result[y * width + x] = (unsigned char)(value * 255 + 0.5f);
}

void write_image(const std::string &name, const std::vector<unsigned char> &pixels, int width)
{
    FILE *file = fopen(name.c_str(), "wb");
    fprintf(file, "P5\n%d %d\n255\n", width, (int)pixels.size() / width);
    fwrite(pixels.data(), 1, pixels.size(), file);
    fclose(file);
}

std::vector<unsigned char> read_image(const std::string &name, int &width, int &height)
{
    FILE *file = fopen(name.c_str(), "rb");
    if (fscanf(file, "P5 %d %d 255", &width, &height) != 2)
        exit(1);
    fgetc(file);
    std::vector<unsigned char> pixels(width * height);
    if (fread(pixels.data(), 1, pixels.size(), file) != pixels.size())
        exit(1);
    fclose(file);
    return pixels;
}

int main()
{
    int width = 48, height = 32;
    std::vector<unsigned char> pixels(width * height);
    for (int i = 0; i < width * height; ++i)
        pixels[i] = i % width / 8 % 2 != i / width / 8 % 2 ? 255 : 16;
    write_image("board.pgm", pixels, width);
    pixels = read_image("board.pgm", width, height);

    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, pixels.data(), width, width, height,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
    description.filterMode = cudaFilterModeLinear;
    description.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    unsigned char *result;
    CHECK(cudaMalloc(&result, width * height));
    rotate<<<dim3(3, 4), dim3(16, 8)>>>(texture, result, width, height, sinf(0.5f), cosf(0.5f));
    CHECK(cudaMemcpy(pixels.data(), result, width * height, cudaMemcpyDeviceToHost));
    write_image("rotated.pgm", pixels, width);
    pixels = read_image("rotated.pgm", width, height);
    for (int y = 0; y < height; y += 2) {
        for (int x = 0; x < width; ++x)
            putchar(" .:-=+*#%@"[pixels[y * width + x] / 26]);
        putchar('\n');
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(result));
    return 0;
}
