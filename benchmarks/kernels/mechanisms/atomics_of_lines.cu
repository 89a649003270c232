// Every thread adds to a random one of `words` integers that lie `stride` apart: few lines are on
// few slices of the L2, and one of 128 bytes is on one.
// run: --size n=1048576 --size words=32 --size stride=1 --output sums=index:words*stride:int32
// run: --size n=1048576 --size words=16 --size stride=64 --output sums=index:words*stride:int32
// run: --size n=1048576 --size words=64 --size stride=64 --output sums=index:words*stride:int32
// run: --size n=1048576 --size words=16 --size stride=1024 --output sums=index:words*stride:int32
// run: --size n=1048576 --size words=256 --size stride=1024 --output sums=index:words*stride:int32
// launch: atomics_of_lines<<<n / 256, 256>>>(sums, words, stride)

__device__ unsigned mix(unsigned i)
{
    i = (i ^ (i >> 15)) * 2654435761u;
    i = (i ^ (i >> 13)) * 2246822519u;
    return i ^ (i >> 16);
}

__global__ void atomics_of_lines(int* sums, unsigned words, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[mix(i) % words * stride], (int)i);
}
