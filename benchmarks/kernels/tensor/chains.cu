// Products of halves out of registers alone, each of which waits for the one before: one chain a
// warp, then four of them, with 4 and with 16 warps on an SM.
// run: --size chains=1 --size warps=4 --output y=float32:132*warps*32
// run: --size chains=1 --size warps=16 --output y=float32:132*warps*32
// run: --size chains=4 --size warps=4 --output y=float32:132*warps*32
// run: --size chains=4 --size warps=16 --output y=float32:132*warps*32
// launch: products<<<132, warps * 32>>>(y, chains)

__device__ void multiply(float* c, unsigned a, unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %4, %5}, {%5, %4}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a), "r"(b));
}

template <int CHAINS>
__device__ float follow(unsigned a, unsigned b)
{
    float c[CHAINS][4] = {};
    for (int step = 0; step < 4096; step++)
        for (int i = 0; i < CHAINS; i++)
            multiply(c[i], a, b);
    float sum = 0.0f;
    for (int i = 0; i < CHAINS; i++)
        sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
    return sum;
}

__global__ void products(float* y, int chains)
{
    const unsigned a = 0x3c003800u + threadIdx.x, b = 0x2c003000u;
    y[blockIdx.x * blockDim.x + threadIdx.x] = chains == 1 ? follow<1>(a, b) : follow<4>(a, b);
}
