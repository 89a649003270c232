// Groups of `sharers` warps load the same lines, a word or half a word per lane (`bytes`): lines that
// the L1 has lost, or 16 lines per group that it keeps.
// run: --size bytes=4 --size sharers=8 --size lines=2048 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=4 --size sharers=16 --size lines=4096 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=4 --size sharers=32 --size lines=8192 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=4 --size sharers=32 --size lines=16 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=2 --size sharers=8 --size lines=2048 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=2 --size sharers=32 --size lines=8192 --input b=normal:2097152 --output y=float32:270336
// run: --size bytes=2 --size sharers=32 --size lines=16 --input b=normal:2097152 --output y=float32:270336
// launch: shared_lines<<<264, 1024>>>(y, b, bytes, sharers, lines)

// Sums 65536 loads of consecutive lines, again from the start after the last one.
template <class T, class Sum>
__device__ float sum_lines(const float* b, int sharers, int lines)
{
    const int line_length = 128 / sizeof(T);
    int group = threadIdx.x / 32 / sharers;
    const T* from = (const T*)(b + blockIdx.x % 8 * 262144 + group * lines * 32) + threadIdx.x % 32;
    const T *line = from, *end = from + lines * line_length;
    Sum sum = 0;
#pragma unroll 1
    for (int round = 0; round < 4096; ++round) {
#pragma unroll
        for (int j = 0; j < 16; ++j) sum += line[j * line_length];
        line += 16 * line_length;
        if (line == end) line = from;
    }
    return sum;
}

__global__ void __launch_bounds__(1024, 2)
shared_lines(float* y, const float* b, int bytes, int sharers, int lines)
{
    float sum = bytes == 2 ? sum_lines<unsigned short, int>(b, sharers, lines)
                           : sum_lines<float, float>(b, sharers, lines);
    y[blockIdx.x * 1024 + threadIdx.x] = sum;
}
