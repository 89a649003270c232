// Reductions, scans, sorting, exchanges, histograms and discontinuities of a block, and of its warps, by cub.
// levels: 3
// in: a int32[512] = random
// in: b float32[512] = normal
// out: y int32[3072]
// out: z float32[1024]
// launch: run<<<1, 128>>>(y, z, a, b)
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
__global__ void run(int* y, float* z, const int* a, const float* b)
{
    using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, 128, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<int, 128, 4, int>;
    using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
    using Raking = cub::BlockScan<float, 128, cub::BLOCK_SCAN_RAKING>;
    using Reduce = cub::BlockReduce<float, 128>;
    using Commutative = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
    using Flags = cub::BlockDiscontinuity<int, 128>;
    using Bins = cub::BlockHistogram<unsigned char, 128, 4, 64>;
    using Warps = cub::WarpReduce<int, 16>;
    using WarpScan = cub::WarpScan<int>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Scan::TempStorage scan;
        typename Raking::TempStorage raking;
        typename Reduce::TempStorage reduce;
        typename Commutative::TempStorage commutative;
        typename Flags::TempStorage flags;
        typename Bins::TempStorage bins;
        typename Warps::TempStorage warps[8];
        typename WarpScan::TempStorage warp_scan[4];
    } room;
    __shared__ int counts[64];
    const int i = threadIdx.x;
    int keys[4], values[4], flags[4];
    Load(room.load).Load(a, keys);
    __syncthreads();
    for (int k = 0; k < 4; ++k) values[k] = 4 * i + k;
    Sort(room.sort).Sort(keys, values);
    __syncthreads();
    Store(room.store).Store(y, keys);
    __syncthreads();
    Store(room.store).Store(y + 512, values);
    __syncthreads();
    for (int k = 0; k < 4; ++k) values[k] = values[k] >> 3;
    Flags(room.flags).FlagHeads(flags, values, cuda::std::not_equal_to<>());
    __syncthreads();
    int total;
    Scan(room.scan).InclusiveSum(flags, flags, total);
    __syncthreads();
    Store(room.store).Store(y + 1024, flags);
    __syncthreads();
    const float sum = Reduce(room.reduce).Sum(b[i]); // of thread 0 alone, as all that follows of this kind
    z[i] = i == 0 ? sum : 0;
    __syncthreads();
    float x[2] = {b[128 + i], b[256 + i]};
    Raking(room.raking).ExclusiveSum(x, x);
    z[128 + i] = x[0];
    z[256 + i] = x[1];
    __syncthreads();
    const int largest = Commutative(room.commutative).Reduce(a[i], cuda::maximum<>());
    y[1536 + i] = i == 0 ? largest + total : 0;
    __syncthreads();
    unsigned char bytes[4];
    for (int k = 0; k < 4; ++k) bytes[k] = a[4 * i + k] & 63;
    Bins(room.bins).Histogram(bytes, counts);
    __syncthreads();
    y[1664 + i] = counts[i & 63];
    const int of_half = Warps(room.warps[i / 16]).Sum(a[i]);
    y[1792 + i] = i % 16 == 0 ? of_half : 0;
    __syncthreads();
    int inclusive, exclusive;
    WarpScan(room.warp_scan[i / 32]).Scan(a[i], inclusive, exclusive, cuda::std::plus<>());
    y[1920 + i] = inclusive;
    y[2048 + i] = i % 32 ? exclusive : 0;
}
