// Sums and extremes of two, four and eight halves and bfloat16 at once in global memory: numbers of
// either sign, infinities and what is no number; with the old value, and without.
// in: a uint16[256] = random
// in: b float16[256] = edges
// inout: h float16[512] = edges2
// inout: f bfloat16[512] = edges2
// out: old uint16[448]
// launch: run<<<1, 32>>>(h, f, old, a, b)
#define EACH(kind, p, v, w)                                                                                          \
    asm volatile("red.global.add.noftz.v2." kind " [%0], {%1, %2};" ::"l"(p), "h"(v), "h"(w) : "memory");             \
    asm volatile("red.global.min.noftz.v4." kind " [%0], {%1, %2, %1, %2};" ::"l"(p), "h"(v), "h"(w) : "memory");     \
    asm volatile("red.global.max.noftz.v8." kind " [%0], {%1, %1, %1, %1, %2, %2, %2, %2};" ::"l"(p), "h"(w), "h"(v) \
                 : "memory");
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef unsigned short code;
__global__ void run(__half* halves, __nv_bfloat16* bfloats, code* old, const code* a, const __half* edges)
{
    const int i = threadIdx.x;
    code *const h = (code*)halves, *const f = (code*)bfloats;
    const code* const b = (const code*)edges;
    code x, y, z, w;
    EACH("f16", h + 8 * i, a[i], b[i])
    EACH("bf16", f + 8 * i, a[64 + i], b[64 + i])
    EACH("f16", h + 256 + 8 * i, a[128 + i], b[32 + i])
    EACH("bf16", f + 256 + 8 * i, b[96 + i], a[160 + i])
    asm volatile("atom.global.min.noftz.v4.f16 {%0, %1, %2, %3}, [%4], {%5, %5, %6, %6};"
                 : "=h"(x), "=h"(y), "=h"(z), "=h"(w) : "l"(h + 8 * i), "h"(a[200 + i % 8]), "h"(b[i]) : "memory");
    old[4 * i] = x, old[4 * i + 1] = y, old[4 * i + 2] = z, old[4 * i + 3] = w;
    asm volatile("atom.global.max.noftz.v2.bf16 {%0, %1}, [%2], {%3, %4};"
                 : "=h"(x), "=h"(y) : "l"(f + 8 * i), "h"(b[32 + i]), "h"(a[i]) : "memory");
    old[128 + 2 * i] = x, old[128 + 2 * i + 1] = y;
    asm volatile("{ .reg .b16 r<8>; atom.global.add.noftz.v8.bf16 {r0, r1, r2, r3, r4, r5, r6, r7}, [%2], {%3, %4, %3, %4, %3, %4, %3, %4};"
                 " mov.b16 %0, r0; mov.b16 %1, r7; }"
                 : "=h"(x), "=h"(y) : "l"(f + 256 + 8 * i), "h"(b[i]), "h"(a[i]) : "memory");
    old[192 + 2 * i] = x, old[192 + 2 * i + 1] = y;
    // Several lanes at one place: whole numbers, in whatever order.
    code* sum = h + 480;
    asm volatile("red.global.max.noftz.v8.f16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(sum + 8 * (i & 3)), "h"((code)(0x3c00 + i)) : "memory");
}
