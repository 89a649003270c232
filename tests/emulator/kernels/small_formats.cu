// Halves and bfloat16 without infinities, fma of what may lie outside of a tensor, integers of 2 and 4 bits, differences of signed bytes.
// in: x uint32[256] = edges
// in: y uint32[256] = random
// in: z uint32[256] = edges
// out: r uint32[4096]
// launch: run<<<1, 256>>>(r, x, y, z)
#define TWO(n, text) asm(text ".f32 %0, %1, %2;" : "=r"(r[256 * n + i]) : "f"(a), "f"(b));
#define THREE(n, text) asm(text " %0, %1, %2, %3;" : "=r"(r[256 * n + i]) : "r"(x[i]), "r"(y[i]), "r"(z[255 - i]));
__global__ void run(unsigned int* r, const unsigned int* x, const unsigned int* y, const unsigned int* z)
{
    const int i = threadIdx.x;
    const float a = __uint_as_float(x[i]), b = __uint_as_float(y[i]);
    TWO(0, "cvt.rn.satfinite.f16x2")
    TWO(1, "cvt.rz.satfinite.f16x2")
    TWO(2, "cvt.rn.relu.satfinite.f16x2")
    TWO(3, "cvt.rn.satfinite.bf16x2")
    TWO(4, "cvt.rz.satfinite.bf16x2")
    TWO(5, "cvt.rz.relu.satfinite.bf16x2")
    THREE(6, "fma.rn.oob.f16x2")
    THREE(7, "fma.rn.oob.relu.f16x2")
    THREE(8, "fma.rn.oob.bf16x2")
    THREE(9, "cvt.pack.sat.u4.s32.b32")
    THREE(10, "cvt.pack.sat.s4.s32.b32")
    THREE(11, "cvt.pack.sat.u2.s32.b32")
    THREE(12, "cvt.pack.sat.s2.s32.b32")
    THREE(13, "vabsdiff4.u32.s32.s32")
    THREE(14, "vabsdiff4.u32.s32.s32.add")
    unsigned short h = i % 3 ? (i % 3 == 1 ? 0x7ff7 : 0xfff7) : (unsigned short)x[i];
    asm("{ .reg .b16 d; fma.rn.oob.f16 d, %1, %2, %2; cvt.u32.u16 %0, d; }" : "=r"(r[3840 + i]) : "h"(h), "h"((unsigned short)y[i]));
}
