// Cycles of a barrier of a cluster of 2 blocks: with the fences of cluster.sync(), or alone (relaxed).
// run: --size turns=400 --size threads=32 --size blocks=128 --size relaxed=0 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=256 --size blocks=128 --size relaxed=0 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=1024 --size blocks=128 --size relaxed=0 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=32 --size blocks=1024 --size relaxed=0 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=256 --size blocks=1024 --size relaxed=0 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=32 --size blocks=128 --size relaxed=1 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=1024 --size blocks=128 --size relaxed=1 --output y=float32:blocks*threads
// run: --size turns=400 --size threads=256 --size blocks=1024 --size relaxed=1 --output y=float32:blocks*threads
// launch: barriers<<<blocks, threads>>>(y, turns, relaxed)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) barriers(float* y, int turns, int relaxed)
{
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();
    const long long start = clock64();
    if (relaxed)
        for (int k = 0; k < turns; k++)
            asm volatile("barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.aligned;");
    else
        for (int k = 0; k < turns; k++)
            cluster.sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)(clock64() - start) / turns;
}
