// A switch of eight cases in a loop, by a jump table, where the lanes of a warp go so many ways.
// run: --size turns=2000 --size ways=1 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=2000 --size ways=2 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=2000 --size ways=8 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=2000 --size ways=1 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=2000 --size ways=2 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=2000 --size ways=8 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// launch: jump_tables<<<132, threads>>>(y, x, turns, ways)

__global__ void jump_tables(float* y, const float* x, int turns, int ways)
{
    float value = x[threadIdx.x % 4], step = x[5];
    int way = threadIdx.x % ways;
#pragma unroll 1
    for (int k = 0; k < turns; k++) {
        switch (way) {
        case 0: value = value * step + 1.5f; break;
        case 1: value = sqrtf(value + step); break;
        case 2: value = fmaxf(value * value, step); break;
        case 3: value = value - floorf(value * step); break;
        case 4: value = __int_as_float(__float_as_int(value) ^ 5); break;
        case 5: value = rsqrtf(value * step + 2.0f); break;
        case 6: value = fabsf(value - 3.0f * step); break;
        case 7: value = value / (step + 2.0f); break;
        default: value = __expf(value); break;
        }
        way = (way + 1) & 7;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
