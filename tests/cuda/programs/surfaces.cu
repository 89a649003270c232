// Surface objects: a kernel reads and writes an array, then a texture reads the result.
#include "check.h"
#include <vector>

const int WIDTH = 20, HEIGHT = 10;

__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= WIDTH || y >= HEIGHT)
        return;
    float sum = 0;
    for (int dx = -1; dx <= 1; ++dx)
        sum += surf2Dread<float>(from, (x + dx) * 4, y, cudaBoundaryModeClamp);
    surf2Dwrite(sum, to, x * 4, y);
}

__global__ void read(cudaTextureObject_t texture, float *to)
{
    int x = threadIdx.x, y = threadIdx.y;
    to[y * WIDTH + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

int main()
{
    std::vector<float> a(WIDTH * HEIGHT), b(a.size());
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = i % 13;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaMallocArray(&arrays[i], &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
        resource.res.array.array = arrays[i];
        CHECK(cudaCreateSurfaceObject(&surfaces[i], &resource));
    }
    CHECK(cudaMemcpy2DToArray(arrays[0], 0, 0, a.data(), WIDTH * 4, WIDTH * 4, HEIGHT,
                              cudaMemcpyHostToDevice));
    blur<<<dim3(2, 2), dim3(16, 8)>>>(surfaces[0], surfaces[1]);
    blur<<<dim3(2, 2), dim3(16, 8)>>>(surfaces[1], surfaces[0]);
    cudaTextureObject_t texture;
    cudaTextureDesc description = {};
    resource.res.array.array = arrays[0];
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
    float *linear;
    CHECK(cudaMalloc(&linear, a.size() * 4));
    read<<<1, dim3(WIDTH, HEIGHT)>>>(texture, linear);
    CHECK(cudaMemcpy(b.data(), linear, a.size() * 4, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y += 3) {
        for (int x = 0; x < WIDTH; ++x)
            printf("%g ", b[y * WIDTH + x]);
        printf("\n");
    }
    CHECK(cudaDestroyTextureObject(texture));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaDestroySurfaceObject(surfaces[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
    CHECK(cudaFree(linear));
    return 0;
}
