// What arrivals that do not end a phase return, of lanes that come together, apart, and to two
// objects.
// out: y uint64[96]
// out: z uint64[32]
// out: w uint64[32]
// levels: 1 3
// launch: together<<<1, 32>>>(y, 3, 0x8000fff5)
// launch: apart<<<1, 32>>>(z)
// launch: two<<<1, 32>>>(w)
using Word = unsigned long long;

__device__ unsigned make(Word* object, unsigned threads)
{
    const unsigned at = __cvta_generic_to_shared(object);
    if (threadIdx.x % 8 == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(threads) : "memory");
    __syncwarp();
    return at;
}

__device__ Word arrive(unsigned at, unsigned count)
{
    Word token;
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
                 : "=l"(token) : "r"(at), "r"(count) : "memory");
    return token;
}

__global__ void together(Word* y, unsigned count, unsigned mask)
{
    __shared__ Word object;
    const unsigned at = make(&object, 200), i = threadIdx.x;
    Word first = 0, second = 0, last;
    if (mask >> i & 1) {
        first = arrive(at, count);
        asm volatile("mbarrier.arrive_drop.noComplete.shared.b64 %0, [%1], %2;"
                     : "=l"(second) : "r"(at), "r"(count) : "memory");
    }
    __syncwarp();
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(last) : "r"(at) : "memory");
    y[i] = first;
    y[32 + i] = second;
    y[64 + i] = last >> 32;
}

__global__ void apart(Word* z)
{
    __shared__ Word object;
    const unsigned at = make(&object, 2000);
    z[threadIdx.x] = arrive(at, 1 + threadIdx.x);
}

__global__ void two(Word* w)
{
    __shared__ Word objects[2];
    const unsigned at = make(&objects[threadIdx.x / 8 % 2], 100);
    w[threadIdx.x] = arrive(at, 2);
}
