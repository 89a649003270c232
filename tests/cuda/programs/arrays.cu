// CUDA arrays: one, two and three dimensions, copies in every direction, their properties.
#include "check.h"
#include <vector>

int main()
{
    const int width = 16, height = 8, depth = 4;
    std::vector<float> a(width * height * depth), b(a.size(), -1);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = 0.5f * i;
    const size_t row = width * sizeof(float);

    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    printf("channel: %d %d %d %d kind %d\n", format.x, format.y, format.z, format.w, format.f);
    cudaArray_t plane, other, volume;
    CHECK(cudaMallocArray(&plane, &format, width, height));
    CHECK(cudaMallocArray(&other, &format, width, height));
    CHECK(cudaMemcpy2DToArray(plane, 0, 0, a.data(), row, row, height, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DToArray(plane, 4 * sizeof(float), 2, a.data(), row, 2 * sizeof(float), 3,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, plane, 0, 1, row, height - 1));
    CHECK(cudaMemcpy2DFromArray(b.data(), row, other, 0, 0, row, height - 1,
                                cudaMemcpyDeviceToHost));
    for (int y = 0; y < 3; ++y)
        printf("%g %g %g %g\n", b[y * width], b[y * width + 4], b[y * width + 5],
               b[y * width + 6]);

    cudaChannelFormatDesc found;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&found, &extent, &flags, plane));
    printf("array: %zu x %zu x %zu, %d bits, flags %u\n", extent.width, extent.height, extent.depth,
           found.x, flags);

    extent = make_cudaExtent(width, height, depth);
    CHECK(cudaMalloc3DArray(&volume, &format, extent));
    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(a.data(), row, width, height);
    up.dstArray = volume;
    up.extent = extent;
    up.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&up));
    float *linear;
    CHECK(cudaMalloc(&linear, row * height * depth));
    cudaMemcpy3DParms down = {};
    down.srcArray = volume;
    down.srcPos = make_cudaPos(3, 2, 1);
    down.dstPtr = make_cudaPitchedPtr(linear, row, width, height);
    down.extent = make_cudaExtent(5, 4, 2);
    down.kind = cudaMemcpyDeviceToDevice;
    CHECK(cudaMemset(linear, 0, row * height * depth));
    CHECK(cudaMemcpy3D(&down));
    CHECK(cudaMemcpy(b.data(), linear, row * height * depth, cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", b[0], b[4], b[5], b[(height + 3) * width + 4]);

    cudaChannelFormatDesc wide = cudaCreateChannelDesc<uchar4>();
    cudaArray_t colours;
    CHECK(cudaMallocArray(&colours, &wide, 6));
    std::vector<uchar4> c(6, make_uchar4(1, 2, 3, 4)), d(6);
    CHECK(cudaMemcpy2DToArray(colours, 0, 0, c.data(), 24, 24, 1, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DFromArray(d.data(), 24, colours, 0, 0, 24, 1, cudaMemcpyDeviceToHost));
    printf("colour %d %d %d %d\n", d[5].x, d[5].y, d[5].z, d[5].w);
    CHECK(cudaFreeArray(plane));
    CHECK(cudaFreeArray(other));
    CHECK(cudaFreeArray(volume));
    CHECK(cudaFreeArray(colours));
    CHECK(cudaFree(linear));
    return 0;
}
