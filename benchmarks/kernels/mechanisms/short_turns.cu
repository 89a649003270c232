// Loops of a few instructions in few warps: what a jump costs beyond the stall counts.
// run: --size turns=20000 --size threads=128 --input x=normal:2 --output y=float32:132*threads
// run: --size turns=20000 --size threads=512 --input x=normal:2 --output y=float32:132*threads
// launch: short_turns<<<132, threads>>>(y, x, turns)

__global__ void short_turns(float* y, const float* x, int turns)
{
    const float factor = x[0], step = x[1];
    float value = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        value = value * factor + step;
    y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
