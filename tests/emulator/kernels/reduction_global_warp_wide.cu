// Every lane adds to the same global word: ptxas combines a warp's lanes first.
// in: a uint32[1024] = edges
// inout: cell uint32[8] = zeros
// launch: run<<<8, 128>>>(cell, a)
__global__ void run(unsigned int* cell, const unsigned int* a)
{
    const unsigned int v = a[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&cell[0], v);
    atomicAdd(&cell[1], 1u);
    atomicMin(&cell[2], v);
    atomicMax((int*)&cell[3], (int)v);
    atomicOr(&cell[4], v);
    atomicAnd(&cell[5], v);
    atomicXor(&cell[6], v);
    if (v & 1) atomicSub(&cell[7], 3u);
}
