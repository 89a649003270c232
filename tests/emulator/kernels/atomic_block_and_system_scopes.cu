// Atomics of block and system scope.
// in: a uint32[256] = edges
// inout: cell uint32[4] = zeros
// launch: run<<<2, 128>>>(cell, a)
__global__ void run(unsigned int* cell, const unsigned int* a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_system(&cell[i & 1], a[i]);
    atomicAdd_block(&cell[2 + blockIdx.x], a[i]);
}
