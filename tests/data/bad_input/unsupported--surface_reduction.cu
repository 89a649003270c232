// launch: transpose_shared<<<1, 32>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    const unsigned long long surface = (unsigned long long)out;
    asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(surface), "r"(cols), "r"(rows));
}
