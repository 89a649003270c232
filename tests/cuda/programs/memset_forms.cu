// cudaMemset, cudaMemset2D and cudaMemset3D with their asynchronous forms.
#include "check.h"
#include <vector>

const size_t WIDTH = 40, HEIGHT = 5, DEPTH = 3;

int main()
{
    std::vector<unsigned char> host(1 << 16);
    unsigned char *line;
    CHECK(cudaMalloc(&line, 1000));
    CHECK(cudaMemset(line, 0xAB, 1000));
    CHECK(cudaMemset(line + 3, 7, 10));
    CHECK(cudaMemsetAsync(line + 990, 300, 10));
    CHECK(cudaMemcpy(host.data(), line, 1000, cudaMemcpyDeviceToHost));
    printf("%d %d %d %d %d %d\n", host[2], host[3], host[12], host[13], host[989], host[990]);

    unsigned char *plane;
    size_t pitch;
    CHECK(cudaMallocPitch(&plane, &pitch, WIDTH, HEIGHT));
    CHECK(cudaMemset2D(plane, pitch, 1, WIDTH, HEIGHT));
    CHECK(cudaMemset2DAsync(plane + pitch + 8, pitch, 2, 16, 3));
    CHECK(cudaMemcpy2D(host.data(), WIDTH, plane, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < HEIGHT; ++y) {
        for (size_t x = 0; x < WIDTH; ++x)
            printf("%d", host[y * WIDTH + x]);
        printf("\n");
    }

    cudaPitchedPtr volume;
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    CHECK(cudaMalloc3D(&volume, extent));
    CHECK(cudaMemset3D(volume, 3, extent));
    CHECK(cudaMemset3DAsync(volume, 4, make_cudaExtent(10, 2, 2)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = volume;
    copy.dstPtr = make_cudaPitchedPtr(host.data(), WIDTH, WIDTH, HEIGHT);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    int threes = 0, fours = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT * DEPTH; ++i) {
        threes += host[i] == 3;
        fours += host[i] == 4;
    }
    printf("threes %d fours %d\n", threes, fours);
    CHECK(cudaFree(line));
    CHECK(cudaFree(plane));
    CHECK(cudaFree(volume.ptr));
    return 0;
}
