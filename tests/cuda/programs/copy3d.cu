// cudaMalloc3D and cudaMemcpy3D: boxes with positions, to and from pitched memory.
#include "check.h"
#include <vector>

__global__ void shift(cudaPitchedPtr volume, int width, int height, int depth)
{
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x < width && y < height && z < depth) {
        char *slice = (char *)volume.ptr + z * volume.pitch * volume.ysize;
        ((int *)(slice + y * volume.pitch))[x] += 1000 * z;
    }
}

int main()
{
    const int width = 12, height = 7, depth = 5;
    std::vector<int> a(width * height * depth), b(a.size(), -1);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = i;
    cudaPitchedPtr volume;
    cudaExtent whole = make_cudaExtent(width * sizeof(int), height, depth);
    CHECK(cudaMalloc3D(&volume, whole));
    printf("xsize %zu ysize %zu\n", volume.xsize, volume.ysize);

    cudaMemcpy3DParms up = {};
    up.srcPtr = make_cudaPitchedPtr(a.data(), width * sizeof(int), width, height);
    up.dstPtr = volume;
    up.extent = whole;
    up.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&up));
    shift<<<depth, dim3(16, 8)>>>(volume, width, height, depth);

    cudaMemcpy3DParms box = {};
    box.srcPtr = volume;
    box.srcPos = make_cudaPos(4 * sizeof(int), 2, 1);
    box.dstPtr = make_cudaPitchedPtr(b.data(), width * sizeof(int), width, height);
    box.dstPos = make_cudaPos(1 * sizeof(int), 1, 0);
    box.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    box.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&box));
    CHECK(cudaDeviceSynchronize());
    for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 4; ++y) {
            for (int x = 0; x < 6; ++x)
                printf("%5d", b[(z * height + y) * width + x]);
            printf("\n");
        }
    CHECK(cudaFree(volume.ptr));
    return 0;
}
