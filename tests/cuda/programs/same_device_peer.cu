// Peer copies from a device to itself, cudaMemcpy3DPeer, and legacy copies of arrays.
#include "check.h"

int main()
{
    float host[64], back[64];
    for (int i = 0; i < 64; ++i)
        host[i] = i;
    float *x, *y;
    CHECK(cudaMalloc(&x, sizeof(host)));
    CHECK(cudaMalloc(&y, sizeof(host)));
    CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyPeer(y, 0, x, 0, sizeof(host)));
    CHECK(cudaMemcpyPeerAsync(y + 32, 0, x, 0, 16 * sizeof(float), 0));
    CHECK(cudaMemcpy(back, y, sizeof(back), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", back[31], back[32], back[47], back[48]);

    cudaMemcpy3DPeerParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(x, 8 * sizeof(float), 8, 8);
    copy.dstPtr = make_cudaPitchedPtr(y, 8 * sizeof(float), 8, 8);
    copy.srcPos = make_cudaPos(0, 4, 0);
    copy.extent = make_cudaExtent(3 * sizeof(float), 2, 1);
    CHECK(cudaMemcpy3DPeer(&copy));
    CHECK(cudaMemcpy(back, y, sizeof(back), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g %g\n", back[0], back[2], back[3], back[8], back[10]);
    printf("no second device: %s\n", cudaGetErrorName(cudaMemcpyPeer(y, 77, x, 0, 4)));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
