// Warps take tickets from a counter; each ticket is given once.
// inout: counter uint32[1] = zeros
// out: ticket uint32[512]
// compare: ticket sorted
// launch: run<<<4, 128>>>(ticket, counter)
__global__ void run(unsigned int* ticket, unsigned int* counter)
{
    ticket[blockIdx.x * 128 + threadIdx.x] = atomicAdd(counter, 1u);
}
