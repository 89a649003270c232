// Exchanges and compare-and-swaps of 128 bits in global and shared memory, at places of their own and at one place.
// in: a uint64[64] = random
// inout: g uint64[132] = iota
// out: old uint64[256]
// launch: run<<<1, 32>>>(g, old, a)
typedef unsigned long long u64;
#define EXCHANGE(space, kind, p)                                                                           \
    asm volatile("{ .reg .b128 x, y; mov.b128 x, {%2, %3}; atom." space ".exch.b128 y, [%4], x;"            \
                 " mov.b128 {%0, %1}, y; }" : "=l"(low), "=l"(high) : "l"(v), "l"(w), kind(p) : "memory");
#define SWAP(space, kind, p, u)                                                                            \
    asm volatile("{ .reg .b128 x, y, z; mov.b128 x, {%2, %3}; mov.b128 y, {%4, %5};"                        \
                 " atom." space ".cas.b128 z, [%6], x, y; mov.b128 {%0, %1}, z; }"                          \
                 : "=l"(low), "=l"(high) : "l"(u), "l"((u) + 1), "l"(v), "l"(w), kind(p) : "memory");
__global__ void run(u64* g, u64* old, const u64* a)
{
    __shared__ __align__(16) u64 s[64];
    const int i = threadIdx.x;
    const u64 v = a[2 * i], w = a[2 * i + 1];
    const unsigned int own = (unsigned int)__cvta_generic_to_shared(s + 2 * i);
    u64 low, high;
    s[2 * i] = 2 * i, s[2 * i + 1] = 2 * i + 1;
    SWAP("global", "l", g + 2 * i, (u64)(2 * (i & ~1)))
    old[2 * i] = low, old[2 * i + 1] = high;
    EXCHANGE("global", "l", g + 64 + 2 * (i & 30))
    old[64 + 2 * i] = i & 1 ? low : 0, old[64 + 2 * i + 1] = i & 1 ? high : 0;
    SWAP("shared", "r", own, (u64)(2 * (i & ~2)))
    old[128 + 2 * i] = low, old[128 + 2 * i + 1] = high;
    EXCHANGE("shared", "r", own)
    old[192 + 2 * i] = low, old[192 + 2 * i + 1] = high;
    if (i == 7) EXCHANGE("global", "l", g + 128)
}
